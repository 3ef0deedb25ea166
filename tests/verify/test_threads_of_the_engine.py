"""For a GPU autograd's engine calls a mode on a thread of its own, where no frame of Python called: as done here."""

from __future__ import annotations

import _thread
import threading
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("torch")

import torch

from torchlint.recording.in_command.mode import CommandRecorder
from torchlint.recording.journal.mode import JournalMode

pytestmark = pytest.mark.torch

ARGUMENTS = (torch.ops.aten.add.Tensor, (), (torch.ones(2), torch.ones(2)))


class Seen:
    """What a mode is told, in place of what writes it down."""

    def __init__(self) -> None:
        self.frames: list[object] = []
        self.is_told = threading.Event()

    def tell(self, *told: object) -> None:
        self.frames += [told[3]]
        self.is_told.set()


def journal(seen: Seen) -> Any:  # noqa: ANN401
    operators: Any = SimpleNamespace(
        aside=SimpleNamespace(is_at_work=False, do=lambda function, *arguments: function(*arguments)),
        counted=lambda _: SimpleNamespace(reads=False),
        writes_rows=True,
        memory=None,
        begin=seen.tell,
    )
    return JournalMode(operators, 0)


def command(seen: Seen) -> Any:  # noqa: ANN401
    session: Any = SimpleNamespace(see=seen.tell, trouble=lambda error: pytest.fail(repr(error)))
    return CommandRecorder(session)


@pytest.mark.parametrize("mode_of", [journal, command])
def test_an_operator_that_nobody_called_is_told_without_a_frame(mode_of: Any) -> None:  # noqa: ANN401
    seen = Seen()
    _thread.start_new_thread(mode_of(seen).__torch_dispatch__, ARGUMENTS)
    assert seen.is_told.wait(60)
    assert seen.frames == [None]


@pytest.mark.parametrize("mode_of", [journal, command])
def test_an_operator_that_the_program_called_is_told_with_its_frame(mode_of: Any) -> None:  # noqa: ANN401
    seen = Seen()
    mode_of(seen).__torch_dispatch__(*ARGUMENTS)
    (frame,) = seen.frames
    assert getattr(frame, "f_code").co_name == "test_an_operator_that_the_program_called_is_told_with_its_frame"  # noqa: B009
