"""Everything that descends from a process: who it is, what it takes, and its end."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_FIELDS_AFTER_NAME = 2
"""In /proc/PID/stat the name, in brackets, may hold anything; count from its end."""
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_PATIENCE = 5.0


class Process(NamedTuple):
    pid: int
    parent: int
    group: int
    threads: int
    resident: int
    """Bytes, shared pages counted in full."""


def descendants(root: int) -> list[Process]:
    """The processes below `root`, without those that have ended."""
    children: dict[int, list[Process]] = {}
    for process in _all_processes():
        children.setdefault(process.parent, []).append(process)
    found: list[Process] = []
    pending = [root]
    while pending:
        below = children.get(pending.pop(), [])
        found += below
        pending += [process.pid for process in below]
    return found


def _all_processes() -> Iterator[Process]:
    for name in os.listdir("/proc"):  # noqa: PTH208 - as below
        if name.isdecimal():
            process = _process(name)
            if process is not None:
                yield process


def _process(name: str) -> Process | None:
    try:
        with open(f"/proc/{name}/stat", "rb", buffering=0) as file:  # noqa: PTH123 - some hundred of them, many times
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return Process(
        pid=int(name),
        parent=int(fields[1]),
        group=int(fields[2]),
        threads=int(fields[17]),
        resident=int(fields[21]) * _PAGE,
    )


def memory_in_use(processes: Iterable[Process], limit: int) -> int:
    """Resident bytes, precise only where it matters: around the limit shared pages are shared out."""
    processes = list(processes)
    rough = sum(process.resident for process in processes)
    if rough <= limit:
        return rough
    return sum(_proportional(process) for process in processes)


def _proportional(process: Process) -> int:
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
