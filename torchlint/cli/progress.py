"""A counter on stderr, for runs that take long, on a terminal."""

from __future__ import annotations

import sys
import time

PATIENCE = 1.0
"""Seconds before the counter appears."""
_INTERVAL = 0.1


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
