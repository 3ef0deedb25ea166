"""The CPU against the device, and float32 against float64: each difference beside the size of rounding."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

pytest.importorskip("torch")

import torch
from torch import nn

from tests.verify.probes.contexts import context, flagged, switches
from torchlint.recording.messages import Answer, ProbedFinding
from torchlint.recording.probes.devices import probe
from torchlint.recording.runs.training_curves import Setting, curve
from torchlint.recording.subject import Subject

pytestmark = pytest.mark.torch
FINDING = ProbedFinding(index=0, code="TL607", line=1, end_line=1, probes=("devices",))
OTHER = "cpu:0"
"""A name of the CPU that counts as another device: some modules below compute otherwise once they are moved there."""


def _said_of(
    call: Any,  # noqa: ANN401
    *args: Any,  # noqa: ANN401
    device: str = "cpu",
    finding: ProbedFinding = FINDING,
    seconds: float = 600.0,
) -> Answer:
    before = switches()
    said = probe(context(Subject("Model", call, args), __file__, device=device, seconds=seconds), finding)
    assert switches() == before
    msgspec.json.encode(said)
    return said


def _net() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 49, 4), nn.Dropout(0.0)
    )


class Travelled(nn.Module):
    """Knows whether it was moved to the other device: the CPU side is moved once, and the other from there."""

    moves = 0

    def _apply(self, fn: Any, recurse: bool = True) -> Any:  # noqa: ANN401, FBT001, FBT002 - as torch spells it
        if fn(torch.zeros(1)).dtype is torch.float32:
            self.moves += 1
        return super()._apply(fn, recurse)  # type: ignore[no-untyped-call]


class CoarseLinear(Travelled, nn.Linear):
    """Computes in bfloat16 on the other device, as tensor cores may."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.moves < 2:
            return super().forward(x)
        return (x.bfloat16() @ self.weight.bfloat16().T).float() + self.bias


class Coarse(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(16, 16)
        self.second = CoarseLinear(16, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(torch.relu(self.first(x)))  # type: ignore[no-any-return]


class Break(Travelled):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x / 0 if self.moves == 2 else x


class Kinds(nn.Module):
    def forward(self, x: torch.Tensor) -> dict[str, Any]:
        return {"top": x.argmax(1), "large": x > 0, "sparse": x.to_sparse(), "complex": torch.fft.fft(x), "none": None}


def test_float32_beside_float64_is_the_size_of_rounding() -> None:
    said = _said_of(_net(), torch.randn(4, 3, 9, 9))
    assert said.verdict == "VARIES"
    assert said.evidence["compared"] == "float32 with float64"
    assert "roundings of its type" in said.reason
    parts = said.evidence["parts"]
    assert [part["place"] for part in parts][:3] == ["0", "1", "2"]  # type: ignore[attr-defined]
    assert all(part["roundings"] < 100 for part in parts)  # type: ignore[attr-defined]


def test_a_gradient_that_cancels_is_not_held_against_itself() -> None:
    """The bias before the norm: its gradient is rounding and nothing else."""
    parts = _said_of(_net(), torch.randn(4, 3, 9, 9)).evidence["parts"]
    (cancelled,) = [part for part in parts if part["place"] == "gradient of 0.bias"]  # type: ignore[attr-defined]
    assert cancelled["roundings"] < 100


def test_two_devices_that_agree_in_every_bit_are_said_to() -> None:
    said = _said_of(_net(), torch.randn(4, 3, 9, 9), device=OTHER)
    assert (said.verdict, said.reason) == ("NOT REPRODUCED", "the device and the CPU agree in every bit on this input")


def test_coarser_arithmetic_stands_out_and_its_module_is_named() -> None:
    torch.manual_seed(0)
    said = _said_of(Coarse(), torch.randn(4, 16), device=OTHER)
    assert said.verdict == "VARIES"
    assert "the device and the CPU differ from `second` on" in said.reason
    assert "more than another order of additions explains" in said.reason
    ratios = {part["place"]: part["ratio"] for part in said.evidence["parts"]}  # type: ignore[attr-defined]
    assert ratios["first"] == 1
    assert ratios["second"] > 100


def test_nan_on_one_side_is_more_than_rounding() -> None:
    said = _said_of(Break(), torch.randn(4, 4), device=OTHER)
    assert said.verdict == "VARIES"
    assert (
        said.reason
        == "the device and the CPU differ in more than rounding at `output`: 16 elements are a number on one side only"
    )


def test_dropout_is_compared_in_eval_mode() -> None:
    said = _said_of(nn.Sequential(nn.Linear(4, 4), nn.Dropout()), torch.randn(4, 4))
    assert said.evidence["mode"] == "eval"


def test_random_numbers_in_eval_mode_leave_nothing_to_compare() -> None:
    said = _said_of(lambda x: x + torch.rand(4), torch.randn(4))
    assert said.verdict == "NOT REPRODUCED"
    assert "random numbers" in said.reason


def test_exact_arithmetic_agrees_in_every_bit() -> None:
    said = _said_of(lambda x: x.sum(), torch.arange(8.0))
    assert (said.verdict, said.reason) == ("NOT REPRODUCED", "float32 and float64 agree in every bit on this input")


def test_outputs_of_every_kind_break_nothing() -> None:
    assert _said_of(Kinds(), torch.eye(3)).verdict in ("NOT REPRODUCED", "VARIES")
    assert _said_of(lambda x: x, torch.tensor([1, 2])).reason == (
        "no result holds floating-point numbers that could be compared"
    )
    assert _said_of(lambda x: x, torch.tensor([float("nan"), float("inf")])).verdict == "NOT REPRODUCED"
    assert probe(context(None), FINDING).verdict == "SKIPPED"


def compares_precisions() -> None:
    x = torch.linspace(0, 1, 64)
    assert torch.equal(torch.softmax(x.double(), 0).float() * 3, torch.softmax(x * 1.1, 0) * 3)  # flagged


def compares_what_is_equal() -> bool:
    x = torch.linspace(0, 1, 64)
    return bool((torch.relu(x) == x).all())  # flagged


def test_the_two_sides_of_an_exact_comparison_are_held_against_each_other() -> None:
    said = _said_of(compares_precisions, finding=flagged(compares_precisions, "TL607"))
    assert said.verdict == "VARIES"
    assert "the two sides that are compared for equal bits differ in 64 of 64 elements" in said.reason


def test_equal_sides_are_said_to_come_from_one_device() -> None:
    said = _said_of(compares_what_is_equal, finding=flagged(compares_what_is_equal, "TL607"))
    assert said.verdict == "NOT REPRODUCED"
    assert said.reason == "the two sides of the comparison had equal bits: both were computed on the CPU here"


def _training() -> Subject:
    torch.manual_seed(0)
    return Subject("net", _net(), (torch.randn(4, 3, 9, 9),), loss=lambda out: out.square().mean())


def test_two_precisions_drift_apart_step_by_step() -> None:
    before = switches()
    apart = curve(_training(), Setting(), Setting(in_double=True), steps=12, learning_rate=0.1)
    assert switches() == before
    assert set(apart) == {"0", "1", "4"}
    assert {len(steps) for steps in apart.values()} == {12}
    assert all(0 < steps[0] < 1e-5 for steps in apart.values())
    assert max(steps[-1] for steps in apart.values()) > max(steps[0] for steps in apart.values())
    msgspec.json.encode(apart)


def test_a_training_does_not_drift_from_itself() -> None:
    apart = curve(_training(), Setting(threads=1), Setting(threads=1), steps=4)
    assert all(steps == [0.0] * 4 for steps in apart.values())


def test_a_curve_ends_where_the_training_breaks_down() -> None:
    apart = curve(_training(), Setting(), Setting(in_double=True), steps=50, learning_rate=1e20)
    assert all(len(steps) < 50 for steps in apart.values())
    msgspec.json.encode(apart)


def test_a_model_without_gradients_has_no_curve() -> None:
    assert curve(Subject("relu", nn.ReLU(), (torch.randn(3),)), Setting(), Setting(threads=1)) == {}


def _step(model: nn.Module, optimizer: torch.optim.Optimizer, rows: torch.Tensor) -> torch.Tensor:
    optimizer.zero_grad()
    loss = model(rows).square().mean()
    loss.backward()
    optimizer.step()
    return loss.detach()  # type: ignore[no-any-return]


def _evaluation(model: nn.Module, rows: torch.Tensor) -> torch.Tensor:
    return model(rows).mean()  # type: ignore[no-any-return]


def _noisy_step(model: nn.Module, optimizer: torch.optim.Optimizer, rows: torch.Tensor) -> torch.Tensor:
    return _step(model, optimizer, rows + torch.randn_like(rows))


def _trained() -> tuple[nn.Module, torch.optim.Optimizer, torch.Tensor]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
    return model, torch.optim.Adam(model.parameters(), lr=0.01), torch.randn(32, 8)


NAMED = ProbedFinding(index=0, code="", line=1, end_line=1, probes=("devices",))


def test_a_training_step_drifts_by_itself_and_leaves_the_given_model_alone() -> None:
    given = _trained()
    before = [parameter.detach().clone() for parameter in given[0].parameters()]
    said = _said_of(_step, *given, finding=NAMED)
    drawn: Any = said.evidence["curve"]
    assert drawn["pair"] == "float32 and float64"
    assert drawn["steps"] == list(range(1, len(drawn["total"]) + 1))
    assert set(drawn["modules"]) == {"model.0", "model.2"}
    assert 0 < drawn["total"][0] < 1e-5
    assert "trained, float32 and float64 are " in said.reason
    assert all(torch.equal(now, then) for now, then in zip(given[0].parameters(), before, strict=True))
    places = [part["place"] for part in said.evidence["parts"]]  # type: ignore[attr-defined]
    assert "gradient of model.0.weight" in places


def test_another_device_is_the_other_side_of_the_curve() -> None:
    said = _said_of(_step, *_trained(), finding=NAMED, device=OTHER)
    drawn: Any = said.evidence["curve"]
    assert drawn["pair"] == "cpu and cpu:0"
    assert set(drawn["total"]) == {0.0}
    assert "curve_of_threads" not in said.evidence


def test_a_module_that_is_named_is_trained_by_plain_descent() -> None:
    drawn: Any = _said_of(_net(), torch.randn(4, 3, 9, 9), finding=NAMED).evidence["curve"]
    assert drawn["pair"] == "float32 and float64 (plain SGD on a weighted sum of the outputs)"
    assert set(drawn["modules"]) == {"0", "1", "4"}


def test_a_finding_is_about_a_line_and_gets_no_curve() -> None:
    assert "curve" not in _said_of(_step, *_trained()).evidence


def test_a_function_that_changes_no_parameter_has_no_curve() -> None:
    model, _, rows = _trained()
    evidence = _said_of(_evaluation, model, rows, finding=NAMED).evidence
    assert not {"curve", "curve_of_threads", "no_curve"} & evidence.keys()


def test_a_step_that_draws_random_numbers_is_not_compared() -> None:
    said = _said_of(_noisy_step, *_trained(), finding=NAMED)
    assert said.verdict == "NOT REPRODUCED"
    assert said.reason == "random numbers are drawn, and no two devices draw the same"
