"""What stderr shows of runs that take long: a counter on a terminal, else a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

PATIENCE = 1.0
"""Seconds before the counter appears."""
_INTERVAL = 0.1
SECONDS_BETWEEN_LINES = 10.0
_MOST_RUNNING = 3


class Progress:
    """Call it with what is done and what there is in all, such as `files`; `close` wipes the line."""

    def __init__(self, done_words: str = "checked", what: str = "files") -> None:
        self._done_words = done_words
        self._what = what
        self._next = time.monotonic() + PATIENCE
        self._shown = 0

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _INTERVAL
        line = f"{self._done_words} {done} of {total} {self._what}"
        sys.stderr.write("\r" + line.ljust(self._shown))
        sys.stderr.flush()
        self._shown = len(line)

    def close(self) -> None:
        if self._shown:
            sys.stderr.write("\r" + " " * self._shown + "\r")
            sys.stderr.flush()
            self._shown = 0


class ProgressLines:
    """A line every ten seconds, for runs that nobody watches and logs that somebody reads: `3 of 12 targets done`.

    The first comes after `patience` seconds, if that is given.
    """

    def __init__(self, words: str, patience: float | None = None) -> None:
        self._words = words
        self._began = time.monotonic()
        self._next = self._began + (SECONDS_BETWEEN_LINES if patience is None else patience)

    def __call__(self, done: int, total: int, running: Sequence[tuple[str, float]] = ()) -> None:
        """`running` says what runs and for how long it has, the slowest first."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + SECONDS_BETWEEN_LINES
        slowest = ", ".join(f"{name} for {seconds:.0f} s" for name, seconds in running[:_MOST_RUNNING])
        more = f" and {len(running) - _MOST_RUNNING} more" if len(running) > _MOST_RUNNING else ""
        words = f"; running: {slowest}{more}" if running else ""
        sys.stderr.write(f"after {now - self._began:.0f} s: {done} of {total} {self._words}{words}\n")
        sys.stderr.flush()
