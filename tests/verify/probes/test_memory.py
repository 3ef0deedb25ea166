"""Unwritten memory: confirmed where its content comes out, and nowhere else."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

pytest.importorskip("torch")

import torch
from torch import nn

from tests.verify.probes.contexts import context, flagged, switches
from torchlint.recording.messages import Answer
from torchlint.recording.probes.memory import probe
from torchlint.recording.subject import Subject

pytestmark = pytest.mark.torch


class Pooling(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.project = nn.Linear(4, 4)
        self.query = nn.Parameter(torch.FloatTensor(4, 1))  # flagged

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scores = torch.tanh(self.project(x)) @ self.query
        return (x * torch.softmax(scores, dim=1)).sum(dim=1)


class Filled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.query = nn.Parameter(torch.empty(4, 1))  # flagged
        nn.init.xavier_uniform_(self.query)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.query


class FilledAtFirst(nn.Module):
    """Data-dependent initialisation, as in ActNorm."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.empty(4))  # flagged
        self.is_filled = False

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not self.is_filled:
            self.scale.data.copy_(x.std(dim=(0, 1)))
            self.is_filled = True
        return x * self.scale


class Offset(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + x.new_empty(4)  # flagged


class Partly(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = torch.empty(x.shape[0], 6)  # flagged
        out[:, :4] = x.mean(1)
        return out


class Written(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = torch.empty(x.shape[0], 4)  # flagged
        torch.mean(x, 1, out=out)
        return out * 2


class MultipliedAway(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = torch.empty(4)  # flagged
        return x + out * 0


class Chosen(nn.Module):
    """Whole numbers and truths, both unwritten."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        rows, mask = torch.empty(3, dtype=torch.long), torch.empty(4, dtype=torch.bool)  # flagged
        return x[0, rows], torch.where(mask, x, 0)


class Grown(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = x[0, 0].detach().clone().resize_(8)  # flagged
        return out * x.sum()


class OnlyGradient(torch.autograd.Function):
    @staticmethod
    def forward(_ctx: object, x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @staticmethod
    def backward(_ctx: object, *gradients: torch.Tensor) -> torch.Tensor:
        return torch.empty_like(gradients[0])  # flagged


class Gradient(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * OnlyGradient.apply(self.weight)  # type: ignore[no-any-return, no-untyped-call]


class AlwaysNaN(nn.Module):
    """NaN that is there whatever the memory holds."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = torch.empty(4)  # flagged
        out.fill_(1)
        return x / (x - x) * 0 + out


class Unrepeatable(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        entropy = torch.Generator()
        entropy.seed()
        return x + torch.rand(1, generator=entropy) + 0 * torch.empty(4)  # flagged


class Elsewhere(nn.Module):
    """The flagged allocation is written; another one is not."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = torch.empty(4)  # flagged
        out.zero_()
        return x + out + torch.empty(4)


class Strange(nn.Module):
    """Outputs of every kind, and an operator that the determinism mode refuses."""

    def forward(self, x: torch.Tensor) -> list[Any]:
        out = torch.empty(4)  # flagged
        index = torch.tensor([0, 0])
        put = torch.zeros(4).put_(index, torch.ones(2))
        return [
            x + out,
            put,
            torch.eye(3).to_sparse(),
            x > 0,
            torch.fft.fft(x),
            torch.zeros(2, dtype=torch.uint8),
            "no",
        ]


def _said_of(model: type[nn.Module], line_of: type[Any] | None = None, *, builds: bool = True) -> Answer:
    torch.manual_seed(0)
    subject = Subject(model.__name__, model(), (torch.randn(2, 3, 4),), build=model if builds else None)
    before = switches()
    said = probe(context(subject, __file__), flagged(line_of or model, "TL118"))
    assert switches() == before
    msgspec.json.encode(said)
    return said


@pytest.mark.parametrize("model", [Pooling, Offset, Partly, Chosen, Grown, Strange], ids=lambda model: model.__name__)
def test_unwritten_memory_that_comes_out_is_confirmed(model: type[nn.Module]) -> None:
    said = _said_of(model)
    assert said.verdict == "CONFIRMED", said.reason
    assert said.evidence["allocated_at"] == f"test_memory.py:{flagged(model).line}"


@pytest.mark.parametrize(
    "model",
    [Filled, FilledAtFirst, Written, MultipliedAway, AlwaysNaN, Unrepeatable, Elsewhere],
    ids=lambda model: model.__name__,
)
def test_memory_that_is_written_before_it_is_read_is_not(model: type[nn.Module]) -> None:
    said = _said_of(model)
    assert said.verdict == "NOT REPRODUCED", said.reason


def test_the_elements_that_follow_the_memory_are_counted() -> None:
    said = _said_of(Partly)
    assert said.reason == "unwritten memory reaches `output`: 4 of 12 elements follow its content"
    assert said.evidence["unwritten_with_torchs_fill"] == {"output": 4}
    assert said.evidence["allocated"] == ["float32[2,6]"]


def test_a_parameter_that_nothing_fills_is_found_by_constructing_anew() -> None:
    said = _said_of(Pooling)
    assert said.evidence["in_the_constructor"] is True
    assert said.reason.endswith("unless other code fills it")
    assert _said_of(Pooling, builds=False).verdict == "NOT REPRODUCED"
    assert "no memory was allocated at the flagged line" in _said_of(Pooling, builds=False).reason


def test_a_gradient_made_of_unwritten_memory_is_confirmed() -> None:
    said = _said_of(Gradient, OnlyGradient)
    assert said.verdict == "CONFIRMED"
    assert list(said.evidence["reached"]) == ["gradient of weight"]  # type: ignore[call-overload]


def test_what_only_nan_would_pass_is_said_in_so_many_words() -> None:
    assert "no finite content" in _said_of(MultipliedAway).reason


def test_runs_that_differ_by_themselves_prove_nothing() -> None:
    assert "runs with the same content of the memory differ" in _said_of(Unrepeatable).reason


def test_memory_of_another_line_does_not_count_for_this_one() -> None:
    said = _said_of(Elsewhere)
    assert said.verdict == "NOT REPRODUCED"
    assert said.evidence["unwritten_with_torchs_fill"] == {"output": 24}


def test_without_a_module_or_function_there_is_nothing_to_run() -> None:
    assert probe(context(None), flagged(Offset)).verdict == "SKIPPED"
