"""The recorder's start, in two parts: when the interpreter starts, and when torch has been imported."""

from __future__ import annotations

from torchlint.recording.journal.outside import Outside

_outside = Outside()


def begin() -> None:
    """Before the program's own code."""
    _outside.begin()


def begin_with_torch(folder: str) -> None:
    """Right after torch was imported."""
    from torchlint.recording.journal.session import begin as begin_session  # noqa: PLC0415 - it imports torch

    begin_session(folder, _outside)
