"""Attempts that allocate too much are refused, where the process would be ended."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from torchlint.recording.confinement.limits import data_in_use

if sys.platform != "win32":
    import resource

_SHARE = 0.5


@contextmanager
def in_half_of_the_memory() -> Iterator[None]:
    """Meanwhile allocations fail at half of what the process may have: an error that a guess can be repaired from."""
    if sys.platform != "linux":
        yield
        return
    before = resource.getrlimit(resource.RLIMIT_DATA)
    used, most = data_in_use(), before[0]
    if most != resource.RLIM_INFINITY and most > used:
        resource.setrlimit(resource.RLIMIT_DATA, (used + int((most - used) * _SHARE), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)
