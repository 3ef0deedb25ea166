"""Begins as the recorder does, in every Python that a test starts with this folder on its path."""

from __future__ import annotations

import os
from functools import partial

from torchlint.recording.factors.imports import after_import
from torchlint.recording.factors.start import begin, begin_torch
from torchlint.recording.factors.surroundings import asked_for

_HELD, _VARIED = asked_for(os.environ)


def _begin_torch(held: frozenset[str], varied: frozenset[str], _: object) -> None:
    begin_torch(held, varied)


begin(_HELD, _VARIED)
after_import("torch", "torch", partial(_begin_torch, _HELD, _VARIED))
