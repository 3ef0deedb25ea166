"""Probe `repeat` on modules without a race: none of their operators is blamed, whatever state the modules keep."""

from __future__ import annotations

import warnings

import pytest

pytest.importorskip("torch")

import torch
from torch import nn

from tests.verify.clean_modules.catalogue import CLEAN
from tests.verify.clean_modules.measuring import measured, subject_of
from tests.verify.clean_modules.unrestored import UNRESTORED
from tests.verify.flagged import context, finding_in, floats, indices
from torchlint.recording.clock import Deadline
from torchlint.recording.probes import repeat
from torchlint.recording.runs import repeated
from torchlint.recording.runs.result_log import sources

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def _two_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.set_num_threads(2)
    warnings.simplefilter("ignore")  # sparse layouts announce themselves
    monkeypatch.setattr(repeated, "LEAST_SCALES", 2)
    monkeypatch.setattr(repeated, "ENOUGH", 0)  # all of them: python -m tests.verify.measure_clean


def test_there_are_a_hundred() -> None:
    assert len(CLEAN) >= 100


@pytest.mark.parametrize("name", CLEAN)
def test_runs_of_a_clean_module_have_the_same_bits(name: str) -> None:
    found = repeated.repeat(subject_of(name), runs=2, seconds=600.0)
    assert found.difference is None
    assert found.runs == {1: 2, 4: 2}


@pytest.mark.parametrize("name", CLEAN)
def test_no_operator_of_a_clean_module_gives_other_bits_for_equal_operands(name: str) -> None:
    """This is what blame rests on once runs have differed, for whatever reason."""
    assert sources(subject_of(name), tries=1, end=Deadline(0.0)) == ()


@pytest.mark.parametrize("name", UNRESTORED)
def test_what_differs_by_state_outside_of_the_module_is_blamed_on_no_operator(name: str) -> None:
    found = measured(name, runs=3, seconds=600.0, table=UNRESTORED)
    assert found.repeated.difference is not None
    assert found.answer.verdict == "NOT REPRODUCED"
    assert "no operator could be named" in found.answer.reason


class BesideARace(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(floats(64, 16))
        self.body = nn.LSTM(16, 8, batch_first=True)  # flagged

    def forward(self, index: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.body(self.table[None])[0], self.table[index]


def test_an_lstm_is_not_blamed_for_its_workspace() -> None:
    flagged = finding_in(BesideARace, "getitem_backward")
    made = context(BesideARace, flagged, indices(64, 40_000), runs=3)
    found = repeat.probe(made, flagged)
    assert made.repeated.difference is not None
    assert found.verdict == "NOT REPRODUCED", found.reason
