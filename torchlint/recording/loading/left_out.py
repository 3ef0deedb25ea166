"""A file without a statement of its top level that fails here: what it would have bound can be invented."""

from __future__ import annotations

import ast
import traceback

from torchlint.recording.messages import Code

_NEEDED = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
"""Imports are stood in for; without a definition something else would be run than what was asked for."""


def without_what_failed(code: Code, error: BaseException) -> str | None:
    """The text with that statement's lines blank; None where it is none of the file's, or one that is needed."""
    lines = [
        line
        for frame, line in traceback.walk_tb(error.__traceback__)
        if frame.f_code.co_filename == code.path and frame.f_code.co_name == "<module>"
    ]
    # A file that was not compiled has no line that ran, and cannot be parsed either.
    body = ast.parse(code.text).body if lines else []
    failed = [each for each in body if each.lineno <= lines[0] <= (each.end_lineno or each.lineno)]
    if not failed or isinstance(failed[0], _NEEDED):
        return None
    rows = range(failed[0].lineno, (failed[0].end_lineno or failed[0].lineno) + 1)
    kept = ["" if row in rows else line for row, line in enumerate(code.text.split("\n"), 1)]
    return "\n".join(kept)
