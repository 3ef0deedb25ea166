"""The user's own line behind a call of torch."""

from __future__ import annotations

import inspect
import os
from pathlib import Path

import torch

_NOT_THE_USERS = (f"{Path(torch.__file__).parent}{os.sep}", f"{Path(__file__).parent}{os.sep}")


def user_place() -> tuple[str, int]:
    """File and line of the deepest frame that is neither torch's nor ours."""
    frame = inspect.currentframe()
    while frame is not None:
        if not frame.f_code.co_filename.startswith(_NOT_THE_USERS):
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return "", 0
