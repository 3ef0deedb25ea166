"""Attempts that allocate too much are refused, where the process would be ended."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from torchlint.recording.confinement.limits import data_in_use

if sys.platform != "win32":
    import resource


@contextmanager
def in_half_of(memory_bytes: int) -> Iterator[None]:
    """Meanwhile allocations fail at half of what the process may take: an error that a guess can be repaired from."""
    if sys.platform != "linux" or not memory_bytes:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = data_in_use() + memory_bytes // 2
    lower = wanted if soft == resource.RLIM_INFINITY else min(soft, wanted)
    resource.setrlimit(resource.RLIMIT_DATA, (lower, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
