"""Where in the user's code an error arose."""

from __future__ import annotations

import ast
import functools
import linecache
import types
from collections.abc import Iterator
from pathlib import Path

import torch

_NOT_THE_USERS = (str(Path(torch.__file__).parent), str(Path(__file__).parents[1]), "<")


def frames_of(error: BaseException) -> list[tuple[types.FrameType, int]]:
    """The frames of the traceback with their lines, the innermost last."""
    found = []
    traceback = error.__traceback__
    while traceback is not None:
        found.append((traceback.tb_frame, traceback.tb_lineno))
        traceback = traceback.tb_next
    return found


def user_frames(error: BaseException) -> Iterator[tuple[types.FrameType, int]]:
    """Those outside of torch, the innermost first."""
    for frame, line in reversed(frames_of(error)):
        if not frame.f_code.co_filename.startswith(_NOT_THE_USERS):
            yield frame, line


def source_at(frame: types.FrameType, line: int) -> str:
    return linecache.getline(frame.f_code.co_filename, line).strip()


@functools.cache
def tree_of(path: str) -> ast.Module:
    try:
        return ast.parse("".join(linecache.getlines(path)))
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module([], [])
