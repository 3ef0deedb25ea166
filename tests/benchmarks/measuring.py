"""What a command costs: CPU and clock seconds, and the memory of its largest process."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_KILO = 1024
_ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""Installed tools have their bytecode."""


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU seconds (user and system, with child processes), clock seconds, and MB of the largest process."""

    cpu: float
    clock: float
    memory: float


def cost_of(command: Sequence[str], before: Callable[[], object] = lambda: None) -> Cost:
    """Of one run, with `before` done first. Raises RuntimeError for one that failed: 1 is for findings."""
    before()
    start = time.perf_counter()
    process = subprocess.Popen(
        command, env=_ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise RuntimeError(f"{command[0]} ended with {process.returncode}")
    return Cost(used.ru_utime + used.ru_stime, time.perf_counter() - start, used.ru_maxrss / _KILO)


def median(rounds: int, command: Sequence[str], before: Callable[[], object] = lambda: None) -> Cost:
    """The median of each figure; a first run that is not counted fills the file system's cache."""
    costs = [cost_of(command, before) for _ in range(rounds + 1)][1:]
    return Cost(*(statistics.median(getattr(one, name) for one in costs) for name in Cost.__slots__))
