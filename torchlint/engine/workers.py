"""Runs work over files in this process or several; a worker that dies costs its file one line, not the run."""

from __future__ import annotations

import contextlib
import functools
import gc
import math
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_STACKS = (512 * 1024 * 1024, 64 * 1024 * 1024, 0)
"""Bytes of (virtual) stack for deep syntax trees, most wanted first: LibCST visits a chain of 200 calls with thousands
of frames. 0 is the system's own size."""
_RECURSION = 40_000
_QUOTAS = (
    ("/sys/fs/cgroup/cpu.max",),
    ("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "/sys/fs/cgroup/cpu/cpu.cfs_period_us"),
)
"""How much time on processors, of how much time, control groups of both versions give to what runs in a container."""
_AT_ONCE = 32
"""Results, of which each may be large."""
_WORTH_A_POOL = 24
"""Fewer files than this are done sooner than processes start."""


def default_jobs() -> int:
    """As many processes as this process may use cores: those that it is bound to, and the time that a container has."""
    bound = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(min(bound, _cores_of_container() or bound), 1)


def _cores_of_container() -> int:
    """0 where nothing limits it. Half a core more is worth a process more."""
    for files in _QUOTAS:
        with contextlib.suppress(OSError, ValueError):  # no such control group; `max` is no limit
            quota, period = map(int, " ".join(Path(file).read_text(encoding="ascii") for file in files).split())
            return max(math.ceil(quota / period), 0)
    return 0


def with_large_stack(work: Callable[[], Result]) -> Result:
    """Run `work` in a thread whose stack holds deeply nested trees. What it raises is raised here."""
    outcome: list[Result] = []
    failure: list[BaseException] = []

    def target() -> None:
        try:
            outcome.append(work())
        except BaseException as error:  # noqa: BLE001 - handed to the caller, whatever it is
            failure.append(error)

    previous_limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(_RECURSION, previous_limit))
    try:
        _started(target).join()
    finally:
        sys.setrecursionlimit(previous_limit)
    if failure:
        raise failure[0]
    return outcome[0]


def _started(target: Callable[[], None]) -> threading.Thread:
    """A thread with as large a stack as this system gives."""
    previous = threading.stack_size()
    try:
        for size in _STACKS:
            thread = threading.Thread(target=target, name="torchlint", daemon=True)
            try:
                threading.stack_size(size)
                thread.start()
            except (RuntimeError, ValueError):
                if size == _STACKS[-1]:
                    raise
            else:
                return thread
        raise AssertionError("unreachable: the last size is tried or raises")
    finally:
        threading.stack_size(previous)


def are_inherited() -> bool:
    """Whether processes know all that this one knows: they are forked."""
    return sys.platform == "linux"


def are_shared(items: int, jobs: int | None) -> bool:
    """Whether so many items go to several processes, of so many at the most (None: as many as there are cores)."""
    return items >= _WORTH_A_POOL and (jobs or default_jobs()) > 1


class Exchange(Generic[Item, Result]):
    """What processes learn of each other.

    `begin` looks at the items of a process's first stage before any is worked on, and `told` at one result; `hear`
    takes in what both tell.
    """

    def __init__(
        self,
        begin: Callable[[Sequence[Item]], Sequence[Any]],
        told: Callable[[Result], Sequence[Any]],
        hear: Callable[[Sequence[Any]], None],
    ) -> None:
        self.begin = begin
        self.told = told
        self.hear = hear


class Workers(Generic[Item, Result]):
    """`work` over many items, with an item that kills its process answered by `on_death`."""

    def __init__(
        self,
        work: Callable[[Item], Result],
        on_death: Callable[[Item], Result],
        *,
        jobs: int | None = None,
        size: Callable[[Item], int] = lambda _: 1,
        exchange: Exchange[Item, Result] | None = None,
    ) -> None:
        self._work = work
        self._on_death = on_death
        self._jobs = jobs
        self._size = size
        self._exchange = exchange

    def map(self, *stages: Sequence[Item]) -> Iterator[Result]:
        """Results in any order, as they come; those of a stage when all of the one before are there."""
        if not are_shared(len(stages[0]), self._jobs):
            yield from self._here(*stages)
            return
        try:
            # What starts processes is slow to import, and small runs need none.
            from torchlint.engine.processes import Processes  # noqa: PLC0415

            jobs = self._jobs or default_jobs()
            yield from Processes(self._work, self._on_death, jobs, self._size, self._exchange).map(*stages)
        except OSError:  # no processes to be had (a sandbox, a full system)
            yield from self._here(*stages)

    def _here(self, *stages: Sequence[Item]) -> Iterator[Result]:
        """In this process, a few at a time: whoever gets a result may need less of it."""
        for items in stages:
            for start in range(0, len(items), _AT_ONCE):
                some = items[start : start + _AT_ONCE]
                yield from with_large_stack(functools.partial(work_through, self._work, some))


def work_through(work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """Syntax trees are large and without cycles: the collector only slows their making."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return [work(item) for item in items]
    finally:
        if was_enabled:
            gc.enable()
