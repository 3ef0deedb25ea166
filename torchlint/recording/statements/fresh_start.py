"""The other end of `fresh`: what a new interpreter does first."""

from __future__ import annotations

from pathlib import Path

import msgspec

from torchlint.recording.originals import KeptOriginals
from torchlint.recording.statements.fresh import Task
from torchlint.recording.statements.observing import observe, place_of
from torchlint.recording.statements.outcomes import outcome


def work(asked: str, answered: str) -> None:
    """Do the task of one file, and answer in another."""
    task = msgspec.msgpack.decode(Path(asked).read_bytes(), type=Task)
    request, finding = task.request, task.finding
    with KeptOriginals():
        if task.work == "observe":
            reply: msgspec.Struct = observe(request, finding, place_of(request, finding), 1, task.seconds)
        else:
            reply = outcome(request, finding, task.seconds)
        Path(answered).write_bytes(msgspec.msgpack.encode(reply))
