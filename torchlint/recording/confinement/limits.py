"""Limits that the kernel keeps."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from torchlint.recording.confinement.job import Limits

if sys.platform != "win32":
    import resource

_THREADS = 4096
"""Room for threads under the limit on processes, which counts both; the supervisor counts processes exactly."""
_STACK = 16 << 20


def apply(limits: Limits, *, limit_memory: bool) -> None:
    """Set them for this process and all that it starts.

    Memory is bounded by what may be written to, not by addresses: libraries and mapped files are no memory in use.
    Even that is out of the question with a GPU, whose driver reserves addresses by the terabyte.
    """
    if sys.platform == "win32":
        return
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_FSIZE, limits.file_bytes)
    if sys.platform == "linux":
        if os.getuid() != 0:  # the kernel counts no process of root's
            _lower(resource.RLIMIT_NPROC, _threads_of_user() + limits.processes + _THREADS)
        if limit_memory:
            _lower(resource.RLIMIT_DATA, data_in_use() + limits.memory_bytes + _stacks())


def _lower(what: int, value: int) -> None:
    hard = resource.getrlimit(what)[1]
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(what, (value, value))


def _stacks() -> int:
    """What the stacks of a pool of threads may grow to: they count as data, and libraries start one a processor."""
    return (os.cpu_count() or 1) * _STACK


def _threads_of_user() -> int:
    uid = os.getuid()
    return sum(_threads(entry) for entry in Path("/proc").iterdir() if entry.name.isdecimal() and _owner(entry) == uid)


def _owner(entry: Path) -> int:
    try:
        return entry.stat().st_uid
    except OSError:
        return -1


def _threads(entry: Path) -> int:
    try:
        return sum(1 for _ in (entry / "task").iterdir())
    except OSError:
        return 0


def data_in_use() -> int:
    for line in Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith("VmData:"):
            return int(line.split()[1]) * 1024
    return 0
