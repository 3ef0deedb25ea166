"""Recordings of two devices or two releases of torch, held against each other within rounding."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.diverge.recorded import Call, Held, Made, recorded
from torchlint.diverge.data import Divergence
from torchlint.diverge.offline import compared
from torchlint.diverge.rounding import DEFAULTS, apart
from torchlint.diverge.sources import Sources
from torchlint.errors import TorchlintError

CUDA = "float32[4] cuda"
X = (1.0, 2.0, -3.0, 4.0)
Compare = Callable[..., Divergence]


@pytest.fixture
def compare(tmp_path: Path) -> Compare:
    """Compares two lists of steps, of which the second ran on a GPU unless something else is said."""

    def compare(
        first: Sequence[Made],
        second: Sequence[Made],
        *,
        tolerance: float | None = None,
        max_causes: int = 3,
        **other: Any,  # noqa: ANN401 - fields of a header
    ) -> Divergence:
        one = recorded(tmp_path / "a.tlrec", *first)
        two = recorded(tmp_path / "b.tlrec", *second, **other)
        return compared(one, two, tolerance=tolerance, sources=Sources(tmp_path), max_causes=max_causes)

    return compare


def off(sample: Sequence[float], by: float) -> tuple[float, ...]:
    return tuple(each * (1 + by) for each in sample)


def pair(apart_by: float, *, writer: int = -1, sample: tuple[float, ...] = X) -> tuple[Held, Held]:
    """A tensor on the CPU and its like on the GPU: other digests, as always."""
    other = off(sample, apart_by)
    return Held(_digest(sample), sample, writer=writer), Held(_digest(other) + 1, other, CUDA, writer=writer)


def _digest(sample: tuple[float, ...]) -> int:
    return hash(sample) & 0xFFFFFFFF


def calls(name: str, line: int, takes: Sequence[tuple[Held, Held]], gives: tuple[Held, Held]) -> tuple[Call, Call]:
    one, two = ([each[side] for each in takes] for side in (0, 1))
    return Call(name, line, tuple(one), (gives[0],)), Call(name, line, tuple(two), (gives[1],))


def steps(*both: tuple[Call, Call], loss: tuple[float, float] = (0.5, 0.5)) -> tuple[list[Made], list[Made]]:
    ours, theirs = (tuple(each[side] for each in both) for side in (0, 1))
    return [Made(ours, losses=loss[:1])], [Made(theirs, losses=loss[1:], devices=("cpu", "cuda:0"))]


def names(found: Divergence) -> list[tuple[str, str]]:
    return [(each.origin.found.kind, each.origin.found.operator.name) for each in found.causes if each.origin]


def test_differences_of_rounding_are_none_and_the_yardstick_is_told(compare: Compare) -> None:
    found = compare(*steps(calls("aten.mm.default", 3, [pair(1e-7)], pair(1e-6)), loss=(0.5, 0.500001)))
    assert found.verdict == "EQUAL"
    (note,) = [each for each in found.notes if "held against each other" in each]
    assert "8 sampled elements" in note
    assert "1.13e-05 for float32, as torch.testing.assert_close" in note


def test_an_operator_that_adds_much_to_what_its_operands_differ_by_is_named(compare: Compare) -> None:
    product = calls("aten.mm.default", 3, [pair(1e-7)], pair(1e-6))
    cancels = calls("aten.sub.Tensor", 4, [pair(1e-6, writer=0)], pair(1e-2))
    follows = calls("aten.exp.default", 5, [pair(1e-2, writer=1)], pair(2e-2))
    found = compare(*steps(product, cancels, follows))
    assert names(found) == [("kernel", "aten.sub.Tensor")]
    distance = found.causes[0].origin.distance if found.causes[0].origin else None
    assert distance is not None
    assert distance.words.startswith("4 of 4 sampled elements differ, by at most ")


def test_what_grows_from_operator_to_operator_is_the_fault_of_none(compare: Compare) -> None:
    chain = [calls(f"aten.op{n}.default", n, [pair(1e-6 * 3**n, writer=n - 1)], pair(3e-6 * 3**n)) for n in range(8)]
    found = compare(*steps(*chain, loss=(0.5, 0.6)))
    assert [(each.step, each.differing, each.origin) for each in found.causes] == [(1, ("loss",), None)]
    assert any("grew from rounding" in note for note in found.notes)


def test_terms_that_cancel_to_nothing_are_no_difference(compare: Compare) -> None:
    left = pair(3.0, sample=(1e-8, -1e-8, 1e-8, 1e-8))
    assert compare(*steps(calls("aten.sum.default", 3, [pair(1e-7)], left))).verdict == "EQUAL"


def test_a_draw_on_another_device_is_a_draw(compare: Compare) -> None:
    ours = Call("aten.randn.default", 2, (), (Held(1, X),), generator=5)
    theirs = Call("aten.randn.default", 2, (), (Held(2, off(X, -3.0), CUDA),), generator=6)
    uses = calls("aten.mul.Tensor", 3, [pair(-3.0, writer=0)], pair(5.0))
    found = compare(*steps((ours, theirs), uses))
    assert names(found) == [("draw", "aten.randn.default")]
    assert not any("not compared" in each for each in found.notes)


def test_a_draw_on_another_device_differs_also_where_nothing_of_it_was_sampled(compare: Compare) -> None:
    ours = Call("aten.randn.default", 2, (), (Held(1),), generator=5)
    theirs = Call("aten.randn.default", 2, (), (Held(2, kind=CUDA),), generator=6)
    found = compare(*steps((ours, theirs)))
    assert names(found) == [("draw", "aten.randn.default")]
    assert any("not compared, for none of their elements were recorded: 1" in each for each in found.notes)


def test_a_batch_that_differs_is_data(compare: Compare) -> None:
    ours = Call("aten.lift_fresh.default", 2, (Held(1, X),), (Held(1, X),))
    theirs = Call("aten.lift_fresh.default", 2, (Held(2, off(X, 1.0)),), (Held(2, off(X, 1.0)),))
    assert names(compare(*steps((ours, theirs)))) == [("data", "aten.lift_fresh.default")]


def test_labels_on_the_cpu_are_held_against_each_other_exactly(compare: Compare) -> None:
    labels = "int64[4] cpu"
    ours, theirs = (Call("aten.one_hot.default", 2, (Held(digest, kind=labels),), ()) for digest in (1, 2))
    assert names(compare(*steps((ours, theirs)))) == [("data", "aten.one_hot.default")]


def test_an_index_that_flips_between_values_that_are_apart_is_not_blamed(compare: Compare) -> None:
    ours, theirs = (
        Call("aten.topk.default", 2, (held,), (Held(held.digest, kind="int64[1] cpu"),)) for held in pair(1e-7)
    )
    assert compare(*steps((ours, theirs))).verdict == "EQUAL"


def test_weights_that_are_loaded_differently_are_parameters(compare: Compare) -> None:
    ours, theirs = (Call("aten.mm.default", 3, (replace(each, is_parameter=True),), ()) for each in pair(0.5))
    assert names(compare(*steps((ours, theirs)))) == [("parameters", "aten.mm.default")]


def test_a_state_that_grew_apart_over_steps_is_no_data(compare: Compare) -> None:
    made = calls("aten.mul_.Tensor", 3, [pair(1e-6)], pair(9e-6))
    used = calls("aten.add.Tensor", 4, [pair(3e-5)], pair(3e-5))
    (one,), (two,) = steps(made)
    (three,), (four,) = steps(used)
    assert compare([one, three], [two, four]).verdict == "EQUAL"


def test_operators_that_only_one_device_needs_are_no_difference(compare: Compare) -> None:
    plain = calls("aten.mm.default", 3, [pair(1e-7)], pair(1e-7))
    copied = Call("aten._to_copy.default", 2, (Held(1, X),), (Held(2, X, CUDA),))
    moved = Call("aten.mm.default", 3, (Held(2, X, CUDA, writer=0),), plain[1].gives)
    ours = Made((plain[0],), losses=(0.5,))
    theirs = Made((copied, moved), losses=(0.5,), devices=("cuda:0",))
    assert compare([ours], [theirs]).verdict == "EQUAL"


def test_a_kernel_that_only_one_device_has_is_told_by_what_reads_its_result(compare: Compare) -> None:
    before = calls("aten.mul.Tensor", 1, [pair(1e-7)], pair(1e-7))
    after = calls("aten.relu.default", 3, [pair(1e-2, writer=1)], pair(1e-2))
    own = (
        Call("aten.convolution.default", 2, (Held(1, X, writer=0),), (Held(1, X),)),
        Call("aten.cudnn_convolution.default", 2, (Held(2, X, CUDA, writer=0),), (Held(2, off(X, 1e-2), CUDA),)),
    )
    found = compare(*steps(before, own, after))
    assert names(found) == [("kernel", "aten.relu.default")]
    assert found.causes[0].origin is not None
    assert found.causes[0].origin.found.before is not None
    assert found.causes[0].origin.found.before.name == "aten.mul.Tensor"


@pytest.mark.parametrize("max_causes", [3, 1])
def test_the_first_draw_and_the_first_kernel_of_a_step_are_both_told(compare: Compare, max_causes: int) -> None:
    conv = calls("aten.mm.default", 1, [pair(1e-7)], pair(1e-2))
    ours = Call("aten.randn.default", 2, (), (Held(1, X),), generator=5)
    theirs = Call("aten.randn.default", 2, (), (Held(2, off(X, -3.0), CUDA),), generator=6)
    uses = calls("aten.mul.Tensor", 3, [pair(-3.0, writer=1)], pair(500.0))
    found = compare(*steps(conv, (ours, theirs), uses), max_causes=max_causes)
    assert names(found) == [("kernel", "aten.mm.default"), ("draw", "aten.randn.default")][:max_causes]


def test_a_tolerance_that_is_given_counts_for_recordings_of_one_device_too(tmp_path: Path) -> None:
    paths = [
        recorded(tmp_path / f"{name}.tlrec", Made(losses=(loss,), values={"parameters": digest}), level="step")
        for name, loss, digest in (("a", 0.5, 1), ("b", 0.501, 2))
    ]
    verdicts = [compared(*paths, tolerance=each, sources=Sources(tmp_path)).verdict for each in (None, 1e-2, 1e-4)]
    assert verdicts == ["DIFFERENT", "EQUAL", "DIFFERENT"]


def test_another_release_of_torch_is_held_within_rounding(compare: Compare) -> None:
    ours, theirs = (Made(losses=(loss,), values={"parameters": digest}) for loss, digest in ((0.5, 1), (0.500001, 2)))
    found = compare([ours], [theirs], software={"python": "3.12.1", "torch": "2.6.0"})
    assert found.verdict == "EQUAL"
    assert "torch: 2.13.0 in the first recording, 2.6.0 in the second" in found.notes


def test_recordings_without_a_number_in_common_are_refused(compare: Compare) -> None:
    with pytest.raises(TorchlintError, match="could be held against each other within rounding"):
        compare([Made()], [Made(devices=("cuda:0",))])


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        ((1.0, 2.0), (1.0, 2.0), 0.0),
        ((1.0, 2.0), (1.0, 2.02), 1.0),
        ((1e-9, 2e-9), (1e-9, 2.02e-9), 1.0),
        ((math.nan, 1.0), (math.nan, 1.0), 0.0),
        ((math.nan, 1.0), (0.0, 1.0), math.inf),
        ((math.inf, 1.0), (math.inf, 1.0), 0.0),
        ((math.inf, 1.0), (-math.inf, 1.0), math.inf),
        ((1e308,), (-1e308,), math.inf),
        ((), (), 0.0),
    ],
)
def test_distances_are_multiples_of_a_share_of_the_largest_element(
    ours: tuple[float, ...], theirs: tuple[float, ...], expected: float
) -> None:
    assert apart(ours, theirs, 0.02 / 2.02) == pytest.approx(expected)


@pytest.mark.torch
@pytest.mark.parametrize("dtype", DEFAULTS)
def test_the_defaults_are_what_torch_allows_an_element_of_size_one(dtype: str) -> None:
    import torch

    one = torch.ones(1, dtype=torch.float64)
    for factor, is_close in ((0.9, True), (1.1, False)):
        other = one + factor * DEFAULTS[dtype]
        relative, absolute = torch.testing._comparison.default_tolerances(getattr(torch, dtype))
        assert torch.isclose(other, one, rtol=relative, atol=absolute).item() is is_close
