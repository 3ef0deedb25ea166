"""SIGTERM as batch systems send it: what was found is printed and kept, and what was started ends."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

from torchlint.cli import exits
from torchlint.errors import Terminated


class Stop:
    """Which of the two ways to end a run was taken."""

    exit_code = exits.INTERRUPTED


@contextlib.contextmanager
def stopped_by_sigterm() -> Iterator[Stop]:
    """While this lasts SIGTERM raises Terminated, once: the time that ending takes is not cut short by a second one."""
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def terminate(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        stop.exit_code = exits.TERMINATED
        raise Terminated

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGTERM, before)
