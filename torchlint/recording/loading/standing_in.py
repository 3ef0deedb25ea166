"""Errors in words: of one that comes from what stands in for a missing library, the library is told."""

from __future__ import annotations

import ast
import re
import sys
import types
from collections.abc import Iterator
from typing import Any

import torch

from torchlint.recording.loading.frames import source_at, tree_of, user_frames
from torchlint.recording.loading.stubs import StubbedCallError, is_absent, library_of

_REFUSED = re.compile(
    r"Legacy autograd function|(?:is|are) now removed|has been removed|(?:is|are) no longer supported"
    r"|is being modified inplace|in a future PyTorch release"
)
"""What torch says of code that an older one ran, whatever it is given."""
_REFUSED_OF_PARAMETERS = re.compile(r"leaf Variable that requires grad is being used in an in-place operation")


def told(error: BaseException) -> str:
    """In one line."""
    if refused_by_torch(error):
        sentence = " ".join(str(error).split()).partition(". ")[0]
        return f"torch {torch.__version__.partition('+')[0]} refuses it: {sentence}"
    missing = missing_behind(error)
    if missing:
        return f"it needs {missing}, which {'is not installed' if is_absent(missing) else 'cannot be imported'} here"
    words = " ".join(str(error).split())
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def refused_by_torch(error: BaseException) -> bool:
    """Whether the installed torch refuses what another one ran, so that no arguments and no inputs help."""
    frame, line = next(user_frames(error), (None, 0))
    source = source_at(frame, line) if frame is not None else ""
    if isinstance(error, AttributeError):
        is_torch = isinstance(error.obj, types.ModuleType) and error.obj.__name__.partition(".")[0] == "torch"
        return is_torch and f".{error.name}" in source  # no name that an argument says
    if frame is None or type(error) is not RuntimeError or source.startswith("raise"):
        return False
    is_constructed = frame.f_code.co_name == "__init__"
    text = str(error)
    return bool(_REFUSED.search(text) or (is_constructed and _REFUSED_OF_PARAMETERS.search(text)))


def missing_behind(error: BaseException) -> str:
    """The library whose stand-in an error comes from; nothing where it is the program's own."""
    if isinstance(error, StubbedCallError):
        return ""  # it says so itself
    if isinstance(error, AttributeError) and (missing := library_of(error.obj)):
        return missing
    frame, line = next(user_frames(error), (None, 0))
    if frame is None:
        return ""
    if isinstance(error, NameError):
        return next((name for name in _starred(frame) if library_of(sys.modules.get(name))), "")
    return next((missing for value in _values_on(line, frame) if (missing := library_of(value, itself=True))), "")


def _starred(frame: types.FrameType) -> Iterator[str]:
    """The modules that the frame's file imports with a star."""
    for node in ast.walk(tree_of(frame.f_code.co_filename)):
        if isinstance(node, ast.ImportFrom) and node.module and node.names[0].name == "*":
            yield node.module


def _values_on(line: int, frame: types.FrameType) -> list[Any]:
    """What the names and attributes in a line stand for."""
    names = {**frame.f_globals, **frame.f_locals}
    tree = tree_of(frame.f_code.co_filename)
    nodes = (node for node in ast.walk(tree) if isinstance(node, (ast.Name, ast.Attribute)) and node.lineno == line)
    return [_value_of(node, names) for node in nodes]


def _value_of(node: ast.expr, names: dict[str, Any]) -> Any:  # noqa: ANN401 - whatever the name stands for
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = _value_of(node.value, names)
        try:
            return None if owner is None else vars(owner).get(node.attr)  # no code of the user's runs here
        except TypeError:
            return None
    return None
