"""Probe `strict`: torch's own words, at the flagged line only."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

import torch
from torch import nn

from tests.verify.flagged import context, finding, finding_in, floats, indices
from torchlint.recording.probes import strict

pytestmark = pytest.mark.torch


class Unpooled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Conv2d(3, 4, 1)
        self.pool = nn.MaxPool2d(2, return_indices=True)
        self.unpool = nn.MaxUnpool2d(2)  # flagged

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        pooled, index = self.pool(self.body(image))
        return self.unpool(pooled, index)  # type: ignore[no-any-return]


def test_what_torch_refuses_is_told_in_its_own_words() -> None:
    flagged = finding_in(Unpooled, "max_unpool")
    found = strict.probe(context(Unpooled, flagged, floats(2, 3, 8, 8)), flagged)
    assert found.verdict == "RAISED"
    assert "does not have a deterministic implementation" in found.reason
    assert not torch.are_deterministic_algorithms_enabled()


def test_a_refusal_elsewhere_in_the_module_is_not_this_finding() -> None:
    flagged = finding_in(Unpooled, "max_unpool")
    pool = finding(flagged.line - 1, flagged.line - 1, "max_pool2d_mps")
    found = strict.probe(context(Unpooled, pool, floats(2, 3, 8, 8)), pool)
    assert found.verdict == "NOT REPRODUCED"
    assert "another call" in found.reason


class Put(nn.Module):
    def forward(self, values: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        return torch.zeros(64).put_(index, values)  # flagged


def test_a_call_without_gradients_can_be_refused() -> None:
    flagged = finding_in(Put, "put_")
    found = strict.probe(context(Put, flagged, floats(20), indices(64, 20)), flagged)
    assert found.verdict == "RAISED"


class Plain(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Linear(3, 4)  # flagged

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        return self.body(values)  # type: ignore[no-any-return]


def test_nothing_refused_is_nothing_reproduced() -> None:
    flagged = finding_in(Plain, "index_add")
    found = strict.probe(context(Plain, flagged, floats(2, 3)), flagged)
    assert found.verdict == "NOT REPRODUCED"
