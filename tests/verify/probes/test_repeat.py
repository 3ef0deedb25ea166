"""Probe `repeat`: races of the CPU are found, and modules without one are never said to differ."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection

import msgspec
import pytest

pytest.importorskip("torch")

import torch
from torch import nn

from tests.verify.flagged import context, finding_in, floats, indices
from torchlint.recording.clock import Deadline
from torchlint.recording.probes import repeat
from torchlint.recording.runs import repeated
from torchlint.recording.runs.result_log import Source, sources
from torchlint.recording.subject import Subject

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def _two_threads() -> None:
    torch.set_num_threads(2)


class Accumulated(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.project = nn.Linear(32, 32)

    def forward(self, values: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        return torch.zeros(64, 32).index_put((index,), self.project(values), accumulate=True)  # flagged


class Read(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(floats(64, 32))

    def forward(self, index: torch.Tensor) -> torch.Tensor:
        return self.table[index]  # flagged


class Put(nn.Module):
    def forward(self, values: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        return torch.zeros(64).put_(index, values, accumulate=True)  # flagged


RACES: list[tuple[type[nn.Module], str, Callable[[], tuple[torch.Tensor, ...]]]] = [
    (Accumulated, "index_put_accumulate", lambda: (floats(20_000, 32), indices(64, 20_000))),
    (Read, "getitem_backward", lambda: (indices(64, 20_000),)),
    (Put, "put_accumulate", lambda: (floats(200_000), indices(64, 200_000))),
]


@pytest.mark.parametrize(("kind", "entry", "inputs"), RACES)
def test_accumulating_races_are_found_every_time(
    kind: type[nn.Module], entry: str, inputs: Callable[[], tuple[torch.Tensor, ...]]
) -> None:
    flagged = finding_in(kind, entry)
    for _ in range(10):
        found = repeat.probe(context(kind, flagged, *inputs()), flagged)
        assert found.verdict == "DIVERGED", found.reason
        assert found.evidence["elements"]
        histogram = found.evidence["ulp_histogram"]
        assert isinstance(histogram, dict)
        assert sum(histogram["counts"]) == found.evidence["of"]


def test_small_inputs_are_scaled_before_anything_is_said() -> None:
    flagged = finding_in(Accumulated, "index_put_accumulate")
    found = repeat.probe(context(Accumulated, flagged, floats(256, 32), indices(64, 256)), flagged)
    assert found.verdict == "DIVERGED"
    assert found.evidence["scale"] != 1


def test_inputs_of_a_few_elements_grow_until_work_is_split_between_threads() -> None:
    flagged = finding_in(Accumulated, "index_put_accumulate")
    found = repeat.probe(context(Accumulated, flagged, floats(2, 32), indices(2, 2)), flagged)
    assert found.verdict == "DIVERGED", found.reason
    sizes = found.evidence["input_sizes"]
    assert isinstance(sizes, dict)
    assert sizes[str(found.evidence["scale"])][0][0] > 2 * 256


def test_a_race_that_no_operator_shows_is_looked_for_at_the_next_size(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def rarely(subject: Subject, tries: int, end: Deadline, wanted: Collection[str]) -> tuple[Source, ...]:
        asked.append(len(subject.args[0]))
        return sources(subject, tries, end, wanted) if len(asked) > 1 else ()

    monkeypatch.setattr(repeated, "sources", rarely)
    flagged = finding_in(Accumulated, "index_put_accumulate")
    found = repeat.probe(context(Accumulated, flagged, floats(20_000, 32), indices(64, 20_000)), flagged)
    assert found.verdict == "DIVERGED", found.reason
    assert asked[0] < asked[1]


class Overwritten(nn.Module):
    def forward(self, values: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        return torch.zeros(64, 8).index_copy(0, index, values)  # flagged


def test_overwriting_with_different_values_is_confirmed_by_its_indices() -> None:
    flagged = finding_in(Overwritten, "index_copy")
    found = repeat.probe(context(Overwritten, flagged, floats(300, 8), indices(64, 300), runs=3), flagged)
    assert found.verdict in ("CONFIRMED", "DIVERGED")


def test_overwriting_with_equal_values_is_not_confirmed() -> None:
    flagged = finding_in(Overwritten, "index_copy")
    found = repeat.probe(context(Overwritten, flagged, torch.ones(300, 8), indices(64, 300), runs=3), flagged)
    assert found.verdict == "NOT REPRODUCED"


def test_overwriting_with_the_same_nan_is_not_confirmed() -> None:
    flagged = finding_in(Overwritten, "index_copy")
    values = torch.full((300, 8), torch.nan)
    found = repeat.probe(context(Overwritten, flagged, values, indices(64, 300), runs=3), flagged)
    assert found.verdict == "NOT REPRODUCED", found.reason


class Assigned(nn.Module):
    def forward(self, values: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        total = torch.zeros(64, 8)
        total[index] = values  # flagged
        return total


class PutOver(nn.Module):
    def forward(self, values: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        return torch.zeros(64).put_(index, values)  # flagged


OVERWRITING: list[tuple[type[nn.Module], str, Callable[[], tuple[torch.Tensor, ...]]]] = [
    (Overwritten, "index_copy", lambda: (floats(300, 8), indices(64, 300))),
    (Assigned, "index_put_set", lambda: (floats(300, 8), indices(64, 300))),
    (PutOver, "put_", lambda: (floats(300), indices(64, 300))),
]


@pytest.mark.parametrize(("kind", "entry", "inputs"), OVERWRITING)
def test_overwriting_races_are_found_every_time(
    kind: type[nn.Module], entry: str, inputs: Callable[[], tuple[torch.Tensor, ...]]
) -> None:
    flagged = finding_in(kind, entry)
    for _ in range(10):
        found = repeat.probe(context(kind, flagged, *inputs(), runs=2), flagged)
        assert found.verdict in ("DIVERGED", "CONFIRMED"), found.reason


class ScatteredFromLarger(nn.Module):
    def forward(self, values: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        return torch.zeros(8, 8).scatter(0, index, values)


def test_of_a_larger_source_only_what_is_written_is_compared() -> None:
    module = ScatteredFromLarger()
    flagged = finding_in(Overwritten, "scatter_src")
    values = torch.arange(16.0)[:, None].expand(16, 8) // 2
    made = context(lambda: module, flagged, values, torch.tensor([[0] * 8, [0] * 8]), path=__file__)
    (event,) = [event for event in made.recorded.events if event.name == "aten.scatter.src"]
    assert event.repetition is not None
    assert event.repetition.distinct < event.repetition.places
    assert event.repetition.has_conflicts is False


class WithState(nn.Module):
    """Everything that a run leaves behind: statistics, counters, draws."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Conv2d(3, 8, 3)
        self.norm = nn.BatchNorm2d(8)
        self.drop = nn.Dropout()
        self.calls = 0

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        noise = torch.rand_like(image)
        return self.drop(self.norm(self.body(image + noise)) * self.calls)  # type: ignore[no-any-return]  # flagged


def test_state_and_draws_are_restored_before_each_run() -> None:
    flagged = finding_in(WithState, "index_add")
    found = repeat.probe(context(WithState, flagged, floats(4, 3, 16, 16)), flagged)
    assert found.verdict == "NOT REPRODUCED"
    assert "gave the same bits" in found.reason


_CALLS = itertools.count()
_OPERATORS = torch.library.Library("torchlint_tests", "DEF")
_OPERATORS.define("drifting(Tensor values) -> Tensor")
_OPERATORS.impl("drifting", lambda values: values + next(_CALLS), "CPU")
"""Gives other bits on each call, on equal operands: a race that always happens."""


class Two(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(floats(8))

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        drifted = torch.ops.torchlint_tests.drifting(values)
        return (drifted * self.table).cumsum(0)  # type: ignore[no-any-return]  # flagged


def test_a_difference_elsewhere_is_not_blamed_on_the_flagged_line() -> None:
    flagged = finding_in(Two, "cumsum")
    found = repeat.probe(context(Two, flagged, floats(4, 8)), flagged)
    assert found.verdict == "NOT REPRODUCED"
    assert "`torchlint_tests.drifting.default`" in found.reason, found.reason
    assert "not the operator of this finding" in found.reason


class Beside(nn.Module):
    def forward(self, values: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        drifting = torch.ops.torchlint_tests.drifting
        added = torch.zeros(64).put_(index, values, accumulate=True) + drifting(values[:64])  # flagged
        return torch.as_tensor(added)


def test_of_two_operators_on_a_line_that_of_the_finding_is_named() -> None:
    """On a GPU a convolution varies beside its own padding, and comes first."""
    flagged = finding_in(Beside, "put_accumulate")
    found = repeat.probe(context(Beside, flagged, floats(200_000), indices(64, 200_000)), flagged)
    assert (found.verdict, found.evidence["operator"]) == ("DIVERGED", "aten.put_.default"), found.reason


def test_another_operator_on_the_same_line_proves_nothing() -> None:
    flagged = finding_in(Beside, "cumsum")
    found = repeat.probe(context(Beside, flagged, floats(64), torch.arange(64)), flagged)
    assert found.verdict == "NOT REPRODUCED"
    assert "`torchlint_tests.drifting.default`, which is not the operator of this finding" in found.reason


@pytest.mark.parametrize(("kind", "entry", "inputs"), OVERWRITING)
def test_a_race_at_invented_indices_is_no_proof(
    kind: type[nn.Module], entry: str, inputs: Callable[[], tuple[torch.Tensor, ...]]
) -> None:
    flagged = finding_in(kind, entry)
    made = context(kind, flagged, *inputs(), runs=2, has_invented_inputs=True)
    found = repeat.probe(made, flagged)
    assert (found.verdict, "invented" in found.reason) == ("TRACED", True), found.reason


class AtItsOwnPlaces(nn.Module):
    def forward(self, values: torch.Tensor) -> torch.Tensor:
        return torch.zeros(64, 8).index_copy(0, torch.arange(len(values)) // 2, values)  # flagged


def test_indices_that_the_code_decides_are_proof_whatever_the_inputs_are() -> None:
    flagged = finding_in(AtItsOwnPlaces, "index_copy")
    made = context(AtItsOwnPlaces, flagged, floats(100, 8), runs=2, has_invented_inputs=True)
    found = repeat.probe(made, flagged)
    assert found.verdict in ("CONFIRMED", "DIVERGED")
    assert "invented" not in found.reason


@pytest.mark.parametrize(("kind", "entry", "inputs"), OVERWRITING[:2])  # torch refuses `put_` there
def test_a_program_with_the_mode_on_is_compared_with_the_mode_on(
    kind: type[nn.Module], entry: str, inputs: Callable[[], tuple[torch.Tensor, ...]]
) -> None:
    """Under the mode these operators write in a fixed order on the CPU: what races without it does not differ."""
    flagged = msgspec.structs.replace(finding_in(kind, entry), mode_on=True)
    made = context(kind, flagged, *inputs(), runs=4)
    assert made.repeated.difference is None
    assert not torch.are_deterministic_algorithms_enabled()


@pytest.mark.parametrize(("share", "is_told"), [(0.6, True), (0.1, False)])
def test_equal_bits_on_a_busy_machine_say_so(monkeypatch: pytest.MonkeyPatch, share: float, is_told: bool) -> None:  # noqa: FBT001
    monkeypatch.setattr(Deadline, "share_waited", property(lambda _: share))
    flagged = finding_in(WithState, "index_add")
    found = repeat.probe(context(WithState, flagged, floats(4, 3, 16, 16)), flagged)
    assert found.verdict == "NOT REPRODUCED"
    assert ("but the machine was busy (60% of the time they waited)" in found.reason) is is_told
