"""The same rows and prefixes in inputs of other sizes: rounding is told from design."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

pytest.importorskip("torch")

import torch
from torch import nn

from tests.verify.probes.contexts import context, switches
from torchlint.recording.messages import Answer, ProbedFinding
from torchlint.recording.probes.shapes import probe
from torchlint.recording.subject import Subject

pytestmark = pytest.mark.torch
FINDING = ProbedFinding(index=0, code="TL607", line=1, end_line=1, probes=("shapes",))


def _said_of(model: nn.Module, *args: torch.Tensor) -> Answer:
    before, training = switches(), model.training
    said = probe(context(Subject("Model", model, args)), FINDING)
    assert switches() == before
    assert model.training == training
    msgspec.json.encode(said)
    return said


class OtherOrder(nn.Module):
    """Adds up in another order when there is one row: what a kernel does, certain on every machine."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        first, second, third = x.unbind(1)
        return first + (second + third) if len(x) == 1 else (first + second) + third


class MixesRows(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x - x.mean(0)


class Kinds(nn.Module):
    def forward(self, x: torch.Tensor) -> dict[str, Any]:
        return {"top": x.argmax(1), "large": x > 0, "sparse": x.to_sparse(), "complex": torch.fft.fft(x), "same": x * 1}


class InFloat32(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ torch.ones(3, 3, dtype=torch.float32)


def test_another_order_of_additions_varies_and_is_called_rounding() -> None:
    said = _said_of(OtherOrder(), torch.tensor([[1e8, -1e8, 1.0], [1.0, 2.0, 3.0]]))
    assert said.verdict == "VARIES"
    assert said.reason == (
        "the same rows in sizes 1 and 8 differ in `output` by at most 1.0e+00, 8388608 units in the last place:"
        " rounding, not an error"
    )


def test_rows_that_are_mixed_on_purpose_are_not_called_rounding() -> None:
    said = _said_of(MixesRows(), torch.randn(4, 3))
    assert said.verdict == "NOT REPRODUCED"
    assert said.evidence["sizes"][0]["reason"] == "its values depend on the batch by design, in float64 too"  # type: ignore[index]


def test_a_batchnorm_is_judged_in_eval_mode() -> None:
    said = _said_of(nn.BatchNorm1d(4), torch.randn(4, 4))
    assert said.evidence["mode"] == "eval"
    assert said.evidence["sizes"][0]["same_by_mathematics"] == 1.0  # type: ignore[index]


def test_what_works_element_by_element_has_equal_bits() -> None:
    said = _said_of(nn.ReLU(), torch.randn(3, 5))
    assert said.verdict == "NOT REPRODUCED"
    assert said.reason == "the same rows and the same prefix had equal bits in the sizes that were tried"


def _differ(model: nn.Module, small: torch.Tensor, large: torch.Tensor) -> bool:
    """Whether the prefix of `small` has other bits in `large`, by plain torch."""
    with torch.no_grad():
        one, two = model(small), model(large)
    two = two[tuple(slice(0, size) for size in one.shape)]
    return not torch.equal(one, two)


def test_a_linear_layer_is_judged_as_torch_behaves_here() -> None:
    torch.manual_seed(0)
    layer, rows = nn.Linear(64, 64), torch.randn(8, 64)
    assert (_said_of(layer, rows).verdict == "VARIES") == _differ(layer, rows[:1], rows)


def test_a_convolution_of_another_length_is_judged_as_torch_behaves_here() -> None:
    torch.manual_seed(0)
    layer, line = nn.Conv1d(16, 16, 5), torch.randn(1, 16, 9)
    sizes = _said_of(layer, line).evidence["sizes"]
    lengths = [one for one in sizes if one["what"] == "length" and one["dimension"] == 2]  # type: ignore[attr-defined]
    assert [one["sizes"] for one in lengths] == [[8, 9], [7, 9]]
    for one in lengths:
        shorter = line[:, :, : one["sizes"][0]].contiguous()
        assert bool(one["outputs"][""]["differing"]) == _differ(layer, shorter, line)


def test_a_padded_convolution_is_compared_where_the_edge_does_not_reach() -> None:
    sizes = _said_of(nn.Conv1d(4, 4, 3, padding=1), torch.randn(1, 4, 9)).evidence["sizes"]
    shares = [
        one["same_by_mathematics"]
        for one in sizes  # type: ignore[attr-defined]
        if one["what"] == "length" and one["dimension"] == 2
    ]
    assert shares == [round(7 / 8, 3), round(6 / 7, 3)]


def test_a_size_that_the_module_does_not_take_is_said() -> None:
    said = _said_of(nn.Linear(6, 2), torch.randn(1, 6))
    reasons = [one.get("reason") for one in said.evidence["sizes"]]  # type: ignore[attr-defined]
    assert "it does not take length 4: RuntimeError" in reasons


def test_dropout_that_stays_on_is_not_compared() -> None:
    class AlwaysOn(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return nn.functional.dropout(x)

    said = _said_of(AlwaysOn(), torch.randn(4, 4))
    assert said.verdict == "NOT REPRODUCED"
    assert "random numbers are drawn in eval mode too" in said.reason


def test_outputs_of_every_kind_break_nothing() -> None:
    assert _said_of(Kinds(), torch.randn(4, 4)).verdict == "NOT REPRODUCED"
    nans = _said_of(nn.ReLU(), torch.full((4, 4), float("nan")))
    assert "by design" in nans.reason or nans.verdict == "NOT REPRODUCED"


def test_code_that_insists_on_float32_is_not_judged() -> None:
    said = _said_of(InFloat32(), torch.randn(4, 3))
    assert said.reason == "it does not run in float64, which tells rounding from design"


def test_inputs_without_rows_have_no_size_to_change() -> None:
    assert _said_of(nn.ReLU(), torch.tensor(1.0)).reason == "no input has rows or a length to change"
    assert probe(context(None), FINDING).verdict == "SKIPPED"
