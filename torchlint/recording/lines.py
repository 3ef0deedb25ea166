"""Where in the user's code things happen: the line that constructed a module."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from torch import nn

_TORCH = f"{Path(torch.__file__).parent}{os.sep}"
_CONSTRUCTED = "_torchlint_constructed"


@contextmanager
def remember_constructors() -> Iterator[None]:
    """While it lasts, every module remembers the place it was constructed at; copies of it remember the same."""
    original = nn.Module.__init__

    @functools.wraps(original)
    def remembering(self: nn.Module, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - passed on
        original(self, *args, **kwargs)
        self.__dict__.setdefault(_CONSTRUCTED, _place(self, inspect.currentframe()))

    nn.Module.__init__ = remembering  # type: ignore[method-assign]
    try:
        yield
    finally:
        nn.Module.__init__ = original  # type: ignore[method-assign]


def constructor_line(module: nn.Module) -> tuple[str, int] | None:
    """The file and line of the call that made a module."""
    place = constructor_call(module)
    return None if place is None else place[:2]


def constructor_call(module: nn.Module) -> tuple[str, int, int] | None:
    """The same with the position of the call in its code, which tells two calls on one line apart."""
    place: tuple[str, int, int] | None = module.__dict__.get(_CONSTRUCTED)
    return place


def _place(module: nn.Module, frame: FrameType | None) -> tuple[str, int, int] | None:
    """The deepest frame outside torch, beyond the constructors of the module's own class and its bases."""
    while frame is not None:
        own = frame.f_code.co_name == "__init__" and next(iter(frame.f_locals.values()), None) is module
        if not own and not frame.f_code.co_filename.startswith((_TORCH, __file__)):
            return frame.f_code.co_filename, frame.f_lineno, frame.f_lasti
        frame = frame.f_back
    return None
