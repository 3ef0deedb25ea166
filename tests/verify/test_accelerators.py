"""What an accelerator is asked, with the CPU in its place: none is at hand where these tests run."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

import torch
from msgspec import structs
from torch import nn

from tests.verify.flagged import finding, floats
from torchlint.recording import entry
from torchlint.recording.messages import Answer, Code, ProbedFinding, Request, Target
from torchlint.recording.names import ProbeName
from torchlint.recording.subject import Subject
from torchlint.verify import judging

pytestmark = pytest.mark.torch

FLAGGED = finding(1, 1, "index_add")
REQUEST = Request(
    code=Code(path=__file__, module="here", text=""), target=Target(kind="module", name="Linear"), findings=(FLAGGED,)
)


def asked(device: str, flagged: ProbedFinding = FLAGGED) -> list[Answer]:
    subject = Subject("Linear", nn.Linear(4, 4), (floats(2, 4),))
    return list(entry._on_device(REQUEST, device, subject, [flagged]))


def test_an_accelerator_is_asked_for_what_it_can_tell_more_about(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Subject, "on", lambda self, _device, _dtype=None: self.fresh())
    answers = asked("cuda")
    assert [(answer.probe, answer.device) for answer in answers] == [("repeat", "cuda"), ("strict", "cuda")]
    assert {answer.verdict for answer in answers} == {"NOT REPRODUCED"}
    assert "on cuda" in answers[0].reason


def test_the_cpu_is_asked_for_all_that_the_rule_names() -> None:
    assert [answer.probe for answer in asked("cpu")] == ["trace", "repeat", "strict"]


def test_a_device_that_a_module_cannot_move_to_is_told_and_takes_nothing_down() -> None:
    if torch.cuda.is_available():
        pytest.skip("this one can")
    (found,) = asked("cuda")
    assert found.verdict == "SKIPPED"
    assert found.reason.startswith("it cannot be moved to cuda: ")


@pytest.mark.parametrize(
    ("probes", "end", "words"),
    [
        (("algebra",), "", "its probe (algebra) runs on the CPU alone, which `--device` leaves out"),
        (("trace", "repeat"), "", "its process gave no answer"),
        (("algebra",), "memory: used more than 4 GiB", "it took too much memory: used more than 4 GiB"),
    ],
)
def test_what_no_device_that_was_chosen_can_answer_says_so(probes: tuple[ProbeName, ...], end: str, words: str) -> None:
    assert judging._unanswered(structs.replace(FLAGGED, probes=probes), end).reason == words
