"""The recorder's start, in two parts: when the interpreter starts, and when torch has been imported."""

from __future__ import annotations

import os

from torchlint.recording.factors import start as factors
from torchlint.recording.factors.surroundings import asked_for
from torchlint.recording.journal.outside import Outside

_outside = Outside()
_held, _varied = asked_for(os.environ)


def begin() -> None:
    """Before the program's own code. What is recorded is what the program gets: factors come first."""
    factors.begin(_held, _varied)
    _outside.begin()


def begin_with_torch(folder: str) -> None:
    """Right after torch was imported."""
    from torchlint.recording.journal.session import begin as begin_session  # noqa: PLC0415 - it imports torch

    factors.begin_torch(_held, _varied)
    begin_session(folder, _outside)
