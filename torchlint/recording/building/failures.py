"""Where an error arose, in the user's words: its line, and the condition that was not met."""

from __future__ import annotations

import ast
import functools
import linecache
import types
from collections.abc import Iterator
from pathlib import Path

import torch

from torchlint.recording.loading.standing_in import told

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


def user_line(error: BaseException) -> str:
    """The source line that failed, outside of torch."""
    for frame, line in user_frames(error):
        return linecache.getline(frame.f_code.co_filename, line).strip()
    return ""


def condition_at(error: BaseException) -> tuple[ast.expr | None, types.FrameType | None]:
    """The test of the `assert`, or of the `if` around the `raise`, that the error comes from."""
    for frame, line in user_frames(error):
        tree = _tree(frame.f_code.co_filename)
        tests = [node for node in ast.walk(tree) if isinstance(node, (ast.Assert, ast.If))] if tree else []
        around = [node for node in tests if node.lineno <= line <= (node.end_lineno or line)]
        if around:
            nearest = max(around, key=lambda node: node.lineno)
            is_raise = isinstance(nearest, ast.Assert) or any(isinstance(part, ast.Raise) for part in nearest.body)
            return (nearest.test, frame) if is_raise else (None, None)
        return None, None
    return None, None


@functools.cache
def _tree(path: str) -> ast.Module | None:
    try:
        return ast.parse("".join(linecache.getlines(path)))
    except SyntaxError:
        return None


def short(error: BaseException) -> str:
    """One short line for the report."""
    text = told(error)
    return text if len(text) <= 160 else text[:157] + "..."
