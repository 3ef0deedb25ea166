"""Everything that descends from a process: who it is, what it takes, and its end."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_PATIENCE = 10.0
_SECONDS_A_STRANGER = 1.0
_SECONDS_TO_WEIGH = 0.25


class Process(NamedTuple):
    pid: int
    parent: int
    group: int
    threads: int
    resident: int
    """Bytes, shared pages counted in full."""


def descendants(root: int) -> list[Process]:
    """The processes below `root`."""
    return _below(root, _processes(_listed()))


class Family:
    """The processes below this one, for one who looks often: who is a stranger is not asked again for a while."""

    def __init__(self) -> None:
        self._strangers: set[int] = set()
        self._asked = time.monotonic()

    def members(self) -> list[Process]:
        now = time.monotonic()
        if now - self._asked > _SECONDS_A_STRANGER:  # numbers are given out again
            self._strangers.clear()
            self._asked = now
        found = list(_processes(pid for pid in _listed() if pid not in self._strangers))
        members = _below(os.getpid(), found)
        others = {each.pid for each in found} - {each.pid for each in members} - {os.getpid()}
        # Whose parent is unknown may have been born into the family while we looked.
        known = others | self._strangers | {0}
        self._strangers |= {each.pid for each in found if each.pid in others and each.parent in known}
        return members


def _below(root: int, found: Iterable[Process]) -> list[Process]:
    children: dict[int, list[Process]] = {}
    for process in found:
        children.setdefault(process.parent, []).append(process)
    members: list[Process] = []
    pending = [root]
    while pending:
        below = children.get(pending.pop(), [])
        members += below
        pending += [process.pid for process in below]
    return members


def _listed() -> Iterator[int]:
    return (int(name) for name in os.listdir("/proc") if name.isdecimal())  # noqa: PTH208 - as below


def _processes(pids: Iterable[int]) -> Iterator[Process]:
    for pid in pids:
        process = _process(pid)
        if process is not None:
            yield process


def _process(pid: int) -> Process | None:
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:  # noqa: PTH123 - some hundred of them, many times
            fields = file.read().rpartition(b")")[2].split()  # the name, in brackets, may hold anything
    except OSError:
        return None
    return Process(
        pid=pid,
        parent=int(fields[1]),
        group=int(fields[2]),
        threads=int(fields[17]),
        resident=int(fields[21]) * _PAGE,
    )


def resident_here() -> int:
    this = _process(os.getpid())
    return this.resident if this is not None else 0


def take_more_than(limit: int, running: Sequence[Process], baseline: int) -> bool:
    """Whether the processes hold more memory than allowed, over the `baseline` that each was born with.

    Only where a rough sum says so are shared pages counted out: with many processes that takes long, and where it takes
    too long there are soon too many of them.
    """
    if sum(max(process.resident - baseline, 0) for process in running) <= limit:
        return False
    deadline = time.monotonic() + _SECONDS_TO_WEIGH
    total = 0
    for process in sorted(running, key=lambda each: each.resident, reverse=True):
        total += _proportional(process)
        if total > limit:
            return True
        if time.monotonic() > deadline:
            return False
    return False


def _proportional(process: Process) -> int:
    """Resident bytes, of shared pages the share that falls to this process."""
    try:
        with open(f"/proc/{process.pid}/smaps_rollup", "rb") as file:  # noqa: PTH123 - as above
            for line in file:
                if line.startswith(b"Pss:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        return process.resident if os.path.exists(f"/proc/{process.pid}") else 0  # noqa: PTH110 - as above
    return 0


def end_all_descendants() -> bool:
    """Kill whatever descends from this process, which must be adopting orphans; True when nothing is left.

    A group is killed in one step, which no `fork` can slip through; what made groups of its own takes some more rounds.
    """
    deadline = time.monotonic() + _PATIENCE
    while _has_children():
        _kill(descendants(os.getpid()))
        if time.monotonic() > deadline:
            return False
        time.sleep(0.001)
    return True


def ask_descendants_to_end(seconds: float) -> None:
    """SIGTERM for whatever descends from this process, which must be adopting orphans, and time to follow it."""
    for process in descendants(os.getpid()):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process.pid, signal.SIGTERM)
    deadline = time.monotonic() + seconds
    while _has_children() and time.monotonic() < deadline:
        time.sleep(0.02)


def end_children_except(spared: Iterable[int]) -> None:
    """Kill the children of this process that are not spared, with all below them, once."""
    kept = set(spared)
    own = os.getpid()
    for child in [each for each in descendants(own) if each.parent == own and each.pid not in kept]:
        _kill([child, *descendants(child.pid)])


def _kill(each: list[Process]) -> None:
    for group in {process.group for process in each} - {os.getpgid(0)}:
        _end(-group)
    for process in each:
        _end(process.pid)


def _end(target: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(target, signal.SIGKILL)


def _has_children() -> bool:
    """False when every child is collected: to one who adopts orphans, no descendant is left then."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True
