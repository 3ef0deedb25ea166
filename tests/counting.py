"""Work that is counted: a busy machine makes a program slower, but has it call no function more."""

from __future__ import annotations

import contextlib
import itertools
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType

MOST_A_LINE = 20_000
"""Calls that reading a line may take, several times what it does: what grows with the square or worse takes more."""
_TOOL = 4
"""A number that `sys.monitoring` gives to no tool of a known kind."""


@contextlib.contextmanager
def counted_calls() -> Iterator[Callable[[], int]]:
    """Count the functions of Python that are called in this process, by this thread and those that it starts."""
    counter = itertools.count()
    with (_monitored if sys.version_info >= (3, 12) else _profiled)(counter.__next__):
        yield counter.__next__


@contextlib.contextmanager
def _profiled(count: Callable[[], int]) -> Iterator[None]:
    def called(_frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            count()

    threading.setprofile(called)
    sys.setprofile(called)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


@contextlib.contextmanager
def _monitored(count: Callable[[], int]) -> Iterator[None]:
    monitoring = sys.monitoring  # type: ignore[attr-defined, unused-ignore]
    started = monitoring.events.PY_START
    monitoring.use_tool_id(_TOOL, "torchlint")
    monitoring.register_callback(_TOOL, started, lambda _code, _offset: count())
    monitoring.set_events(_TOOL, started)
    try:
        yield
    finally:
        monitoring.set_events(_TOOL, 0)
        monitoring.free_tool_id(_TOOL)
