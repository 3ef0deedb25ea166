"""From what runs to lines of the user's code: where a module was constructed, where an operator was called."""

from __future__ import annotations

import functools
import inspect
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import torch
from torch import nn

_CONSTRUCTED = "_torchlint_constructed"
"""Kept in the module's own dictionary, so that it survives a deep copy."""
_INSTRUCTION = "_torchlint_constructed_by"

_RECORDING = Path(__file__).parents[1]
_FOREIGN = (f"{Path(torch.__file__).parent}{os.sep}", f"{_RECORDING}{os.sep}")
_STARTS_FROM = str(_RECORDING / "subject.py")
_NO_FILE = "<"
"""Of the import machinery (`<frozen importlib...>`) and of code that was made from text (`<string>`)."""
_TRACEBACK_LINE = re.compile(r'  File "(?P<file>[^"]+)", line (?P<line>\d+), in ')


class Line(NamedTuple):
    """A line of a file, from 1."""

    file: str
    number: int


@contextmanager
def remember_constructors() -> Iterator[None]:
    """Meanwhile every module that is made remembers where."""
    plain = nn.Module.__init__

    @functools.wraps(plain)
    def remembering(self: nn.Module, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - torch's own signature
        if _CONSTRUCTED not in self.__dict__:
            frames = tuple(constructing_frames(sys._getframe(1), self))  # noqa: SLF001
            self.__dict__[_CONSTRUCTED] = tuple(Line(each.f_code.co_filename, each.f_lineno) for each in frames)
            self.__dict__[_INSTRUCTION] = frames[-1].f_lasti if frames else 0
        plain(self, *args, **kwargs)

    nn.Module.__init__ = remembering  # type: ignore[method-assign]
    try:
        yield
    finally:
        nn.Module.__init__ = plain  # type: ignore[method-assign]


def constructing_frames(frame: FrameType | None, made: nn.Module) -> Iterator[FrameType]:
    """The `super().__init__(...)` calls of the module's own class, then the one that called the class."""
    while frame is not None:
        if _is_users(frame.f_code.co_filename):
            yield frame
            if not _is_own_constructor(frame, made):
                return
        frame = frame.f_back


def _is_own_constructor(frame: FrameType, made: nn.Module) -> bool:
    code = frame.f_code
    return bool(code.co_name == "__init__" and code.co_varnames and frame.f_locals.get(code.co_varnames[0]) is made)


def constructor_lines(module: nn.Module) -> tuple[Line, ...]:
    """Where a module was constructed: the lines of its own constructors that led to torch's, and last the call."""
    lines: tuple[Line, ...] = module.__dict__.get(_CONSTRUCTED, ())
    return lines


def constructor_line(module: nn.Module) -> Line | None:
    """The line that called the module's class; None for a module that was made before anyone remembered."""
    lines = constructor_lines(module)
    return lines[-1] if lines else None


def constructor_call(module: nn.Module) -> tuple[str, int, int] | None:
    """File and line of that call with its position in the code, which tells two calls on one line apart."""
    line = constructor_line(module)
    return None if line is None else (*line, module.__dict__[_INSTRUCTION])


def user_line() -> Line:
    """The line of the deepest frame that is neither torch's nor ours: behind a call of torch, the user's own."""
    frame = inspect.currentframe()
    while frame is not None:
        if not frame.f_code.co_filename.startswith(_FOREIGN):
            return Line(frame.f_code.co_filename, frame.f_lineno)
        frame = frame.f_back
    return Line("", 0)


def calling_lines() -> tuple[Line, ...]:
    """The lines outside torch between the subject's start (`Subject.forward` or `backward`) and here, innermost first.

    Empty in a backward pass, but for lines of a `Function.backward` of the user's own.
    """
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001
    lines = []
    while frame is not None and frame.f_code.co_filename != _STARTS_FROM:
        if _is_users(frame.f_code.co_filename):
            lines.append(Line(frame.f_code.co_filename, frame.f_lineno))
        frame = frame.f_back
    return tuple(lines)


def lines_of_traceback(traceback: Sequence[str]) -> tuple[Line, ...]:
    """The lines outside torch of a traceback as anomaly mode keeps it, innermost first, up to the subject's start."""
    lines = []
    for entry in reversed(traceback):
        found = _TRACEBACK_LINE.match(entry)
        if found and found["file"] == _STARTS_FROM:
            break
        if found and _is_users(found["file"]):
            lines.append(Line(found["file"], int(found["line"])))
    return tuple(lines)


def _is_users(file: str) -> bool:
    return not file.startswith((*_FOREIGN, _NO_FILE))
