"""Time that counts: while a process waits for a processor, on a busy machine, its limits stand still."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Callable, Iterable
from time import monotonic

PATIENCE = 10
"""No limit stands still for longer than this multiple of it, whatever the machine is busy with."""

# Taken before the user's code can put something else in their place.
_open, _int = open, int


_LOOK = 0.5
"""Seconds after which a process that others wait for is looked at again."""
_of_children = [0.0]


def waited(process: int | None = None) -> float:
    """Seconds in which the main thread of a process could have run, and others did; 0 where the system tells none.

    Those of this process include what was waited by processes that it waited for.
    """
    try:
        with _open(f"/proc/{process or 'self'}/schedstat", encoding="ascii") as told:
            seconds = _int(told.read().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        seconds = 0.0
    return seconds if process else seconds + _of_children[0]


def waited_for(process: int) -> None:
    """Count the time of a process that this one waited for. It may have ended, and was not collected yet."""
    _of_children[0] += waited(process)


def worked() -> float:
    """The seconds of a clock that stands still while this process waits."""
    return monotonic() - waited()


class Deadline:
    """A limit from now on, in seconds of such a clock. `waiting` tells how long was waited since any moment."""

    def __init__(self, seconds: float, waiting: Callable[[], float] | None = None) -> None:
        waiting = waiting or waited
        self.seconds = seconds
        self._waiting, self._waited, self._begun = waiting, waiting(), monotonic()
        self._due = self._begun + seconds
        """Not before: what was waited is asked for when this moment has come."""

    @property
    def left(self) -> float:
        stood_still = self._waiting() - self._waited
        most = (PATIENCE - 1) * self.seconds
        stood_still = most if stood_still > most else 0.0 if stood_still < 0 else stood_still
        self._due = self._begun + self.seconds + stood_still
        return self._due - monotonic()

    @property
    def is_over(self) -> bool:
        return monotonic() >= self._due and self.left <= 0

    @property
    def passed(self) -> float:
        """Seconds on the wall."""
        return monotonic() - self._begun

    @property
    def share_waited(self) -> float:
        """The part of the time since it was set in which was waited."""
        return (self._waiting() - self._waited) / max(self.passed, 1e-9)


class Waiting:
    """Of several processes, the time in which one at least waited: while it does, the others mostly wait for it."""

    def __init__(self) -> None:
        self._known: dict[int, float] = {}

    def since_last_look(self, processes: Iterable[int]) -> float:
        now = {process: waited(process) for process in processes}
        longest = max((seconds - self._known.get(process, 0.0) for process, seconds in now.items()), default=0.0)
        self._known = now
        return longest


def ends_in_time(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Whether a process ends by itself within its time; otherwise it is killed."""
    deadline, known = Deadline(seconds, lambda: waited(process.pid)), 0.0
    while process.poll() is None and not deadline.is_over:
        known = waited(process.pid)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(max(0.01, min(_LOOK, deadline.left)))
    _of_children[0] += known
    if process.returncode is not None:
        return True
    process.kill()
    process.wait()
    return False
