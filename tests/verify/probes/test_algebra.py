"""A bias before a norm: what is said to have no effect has none, and what has one is never said to have none."""

from __future__ import annotations

import copy
import inspect
from typing import Any

import msgspec
import pytest

pytest.importorskip("torch")

import torch
from torch import nn

from tests.verify.probes import biased_models as models
from tests.verify.probes.contexts import context, flagged, switches
from torchlint.recording.errors import CannotRun
from torchlint.recording.messages import Answer
from torchlint.recording.probes.algebra import probe
from torchlint.recording.subject import Subject
from torchlint.recording.tracing.lines import constructor_call, constructor_line, remember_constructors

pytestmark = pytest.mark.torch


def _subject(model: type[Any], *, make_input_grad: bool = False) -> Subject:
    torch.manual_seed(0)
    with remember_constructors():
        made = model()
    return Subject(model.__name__, made, (torch.randn(model.shape),), make_input_grad=make_input_grad)


def _made_in(model: type[Any]) -> type[Any]:
    """The class whose constructor makes the layer."""
    return next(owner for owner in model.__mro__ if "# flagged" in inspect.getsource(owner))


def _said_of(model: type[Any], *, make_input_grad: bool = False) -> Answer:
    before = switches()
    subject = _subject(model, make_input_grad=make_input_grad)
    said = probe(context(subject, models.__file__), flagged(_made_in(model)))
    assert switches() == before
    msgspec.json.encode(said)
    return said


@pytest.mark.parametrize("model", models.CONFIRMED, ids=lambda model: model.__name__)
def test_a_bias_that_a_norm_subtracts_has_no_effect(model: type[Any]) -> None:
    said = _said_of(model)
    assert said.verdict == "CONFIRMED", said.reason
    assert said.evidence["output_change"] < 1e-5  # type: ignore[operator]
    assert said.evidence["output_change_by_weight"] > 1e-2  # type: ignore[operator]
    assert said.evidence["follows"] == ["NativeBatchNorm"]


@pytest.mark.parametrize("model", models.REFUTED, ids=lambda model: model.__name__)
def test_a_bias_that_reaches_the_result_refutes(model: type[Any]) -> None:
    said = _said_of(model)
    assert said.verdict == "REFUTED", said.reason
    assert said.evidence["output_change"] > 1e-2  # type: ignore[operator]


@pytest.mark.parametrize("model", models.UNDECIDED, ids=lambda model: model.__name__)
def test_what_cannot_be_told_is_not_said(model: type[Any]) -> None:
    assert _said_of(model).verdict == "NOT REPRODUCED"


def test_double_precision_shows_the_bias_to_vanish() -> None:
    said = _said_of(models.ConvNorm)
    assert said.evidence["precision"] == "float64"
    assert said.evidence["output_change"] < 1e-12  # type: ignore[operator]
    assert said.evidence["bias_to_weight_gradient"] < 1e-12  # type: ignore[operator]
    assert "in eval mode the outputs differ until the running statistics have adapted" in said.reason


def test_code_that_insists_on_float32_is_judged_in_float32() -> None:
    assert _said_of(models.InFloat32).evidence["precision"] == "float32"
    assert _said_of(models.ReluInFloat32).evidence["precision"] == "float32"


def test_each_layer_of_a_loop_is_named() -> None:
    said = _said_of(models.Stack)
    assert said.evidence["layers"] == {f"blocks.{index}.0": "Conv2d" for index in range(4)}


def test_an_input_that_takes_part_in_the_backward_pass_changes_nothing() -> None:
    assert _said_of(models.WithInputGrad, make_input_grad=True).verdict == "CONFIRMED"


def test_a_frozen_weight_leaves_the_proof_to_the_outputs() -> None:
    subject = _subject(models.ConvNorm)
    assert subject.model is not None
    subject.model.requires_grad_(requires_grad=False)
    said = probe(context(subject, models.__file__), flagged(models.ConvNorm))
    assert said.verdict == "CONFIRMED"
    assert "bias_gradient" not in said.evidence


class _Deep(nn.Module):
    """Forty blocks: rounding grows through them, and must not look like an effect."""

    shape = (2, 4, 4, 4)

    def __init__(self) -> None:
        super().__init__()
        blocks = []
        for _ in range(40):
            blocks += [nn.Conv2d(4, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU()]  # flagged
        self.body = nn.Sequential(*blocks)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.body(x)  # type: ignore[no-any-return]


def test_rounding_that_grows_through_a_deep_model_is_no_effect() -> None:
    said = probe(context(_subject(_Deep), __file__), flagged(_Deep))
    assert said.verdict == "CONFIRMED", said.reason
    assert "and 36 more" in said.reason


class _SomeNormed(nn.Module):
    """One call makes layers of both kinds."""

    shape = (4, 3, 5, 5)

    def __init__(self) -> None:
        super().__init__()
        self.convs = nn.ModuleList([nn.Conv2d(3, 3, 3, padding=1) for _ in range(2)])  # flagged
        self.norm = nn.BatchNorm2d(3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.convs[1](torch.relu(self.norm(self.convs[0](x))))  # type: ignore[no-any-return]


def test_one_layer_of_several_whose_bias_matters_refutes_and_is_named() -> None:
    said = probe(context(_subject(_SomeNormed), __file__), flagged(_SomeNormed))
    assert said.verdict == "REFUTED"
    assert "`convs.1`" in said.reason
    assert "`convs.0`" not in said.reason


def test_a_model_too_slow_for_the_time_is_left_alone() -> None:
    with pytest.raises(CannotRun, match=r"one run takes .* s, and some 25 are needed: `--timeout \d+0` would do"):
        probe(context(_subject(models.ConvNorm), models.__file__, seconds=1e-6), flagged(models.ConvNorm))


def test_a_line_that_made_no_layer_says_so() -> None:
    said = probe(context(_subject(models.ConvNorm), models.__file__), flagged(models.LinearNorm))
    assert said.verdict == "NOT REPRODUCED"
    assert said.reason == "the flagged line made no layer with a bias here"


def test_a_copy_remembers_where_the_original_was_constructed() -> None:
    model = _subject(models.ConvNorm).model
    assert model is not None
    copied = copy.deepcopy(model)
    line = flagged(models.ConvNorm).line
    assert constructor_line(model.get_submodule("conv")) == (models.__file__, line)
    assert constructor_line(copied.get_submodule("conv")) == (models.__file__, line)


class _OwnConv(nn.Conv2d):
    def __init__(self) -> None:
        super().__init__(3, 6, 3)


def test_the_line_of_a_subclass_is_where_it_is_constructed() -> None:
    with remember_constructors():
        made = _OwnConv()  # flagged
    here = flagged(test_the_line_of_a_subclass_is_where_it_is_constructed)
    assert constructor_line(made) == (__file__, here.line)


def test_two_calls_on_one_line_are_told_apart() -> None:
    with remember_constructors():
        first, second = nn.Linear(1, 1), nn.Linear(1, 1)
        third, fourth = (nn.Linear(1, 1) for _ in range(2))
    assert constructor_line(first) == constructor_line(second)
    assert constructor_call(first) != constructor_call(second)
    assert constructor_call(third) == constructor_call(fourth)
    assert constructor_line(nn.Linear(1, 1)) is None
