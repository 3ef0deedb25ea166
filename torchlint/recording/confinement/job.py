"""What is asked of a supervisor, and what it reports: plain data, free of torch."""

from __future__ import annotations

from typing import Literal

import msgspec

End = Literal["done", "crash", "timeout", "memory", "processes", "channel"]


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What one process and all that it starts may take."""

    seconds: float = 60.0
    """Wall time, from the start of the process to its last message."""
    memory_bytes: int = 4 << 30
    """Resident memory beyond that of torch itself, over all processes; what they share counts once."""
    processes: int = 64
    output_bytes: int = 1 << 20
    """How much of standard output and error is kept: the head and the tail."""
    file_bytes: int = 1 << 30
    """The largest file."""
    disk_bytes: int = 4 << 30
    """All files together; more of them ends as `memory`."""


class Walls(msgspec.Struct, frozen=True, kw_only=True):
    """Which means of this system are put in the way of the process."""

    landlock: int = 0
    """The version of the kernel's Landlock interface; 0 where there is none."""
    seccomp: bool = False


class Job(msgspec.Struct, frozen=True, kw_only=True):
    nonce: bytes
    scratch: str
    """The folder that the process may write to: made by the supervisor, and deleted by it."""
    limits: Limits
    walls: Walls
    allow_gpu: bool = False
    workers: bool = False
    """It may use shared memory and Unix sockets, as the workers of a loader do."""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The supervisor's last word."""

    end: End
    detail: str
    output: str
    seconds: float
