"""Where an error arose, in the user's words: its line, and the condition that was not met."""

from __future__ import annotations

import ast
import types

from torchlint.recording.loading.frames import source_at, tree_of, user_frames
from torchlint.recording.loading.standing_in import told

_LINE = "torchlint_user_line"
"""Where an error keeps its line once the traceback is gone."""


def plain(error: Exception) -> Exception:
    """What went wrong in TorchScript, without the lines that its interpreter quotes."""
    if "in the TorchScript interpreter" not in str(error):
        return error
    return RuntimeError(str(error).strip().rpartition("Error: ")[2]).with_traceback(error.__traceback__)


def forgotten(error: Exception) -> Exception:
    """The error without its traceback, which holds frames, and those the tensors of an attempt that is over."""
    vars(error)[_LINE] = user_line(error)
    return error.with_traceback(None)


def user_line(error: BaseException) -> str:
    """The source line that failed, outside of torch."""
    if _LINE in vars(error):
        return str(vars(error)[_LINE])
    return next((source_at(frame, line) for frame, line in user_frames(error)), "")


def conditions_at(error: BaseException) -> tuple[list[ast.expr], types.FrameType | None]:
    """The test of the `assert`, or those of the `if ... elif ...` around the `raise`, that the error comes from."""
    for frame, line in user_frames(error):
        nodes = ast.walk(tree_of(frame.f_code.co_filename))
        tests = [node for node in nodes if isinstance(node, (ast.Assert, ast.If))]
        around = [node for node in tests if node.lineno <= line <= (node.end_lineno or line)]
        nearest = max(around, key=lambda node: node.lineno, default=None)
        if isinstance(nearest, ast.If):
            raises = [part for part in (*nearest.body, *nearest.orelse) if isinstance(part, ast.Raise)]
            return ([node.test for node in _chain(nearest, around)], frame) if raises else ([], None)
        return ([nearest.test], frame) if nearest else ([], None)
    return [], None


def _chain(last: ast.If, around: list[ast.Assert | ast.If]) -> list[ast.If]:
    """The branches before an `elif`, the last first."""
    chain = [last]
    for node in sorted(around, key=lambda node: -node.lineno):
        if isinstance(node, ast.If) and node.orelse == [chain[-1]]:
            chain.append(node)
    return chain


def short(error: BaseException) -> str:
    """One short line for the report."""
    text = told(error)
    return text if len(text) <= 160 else text[:157] + "..."
