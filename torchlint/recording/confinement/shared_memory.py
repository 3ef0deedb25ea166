"""What torch leaves in shared memory when the processes that share a tensor are killed."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

_FOLDER = Path("/dev/shm")  # noqa: S108 - where POSIX shared memory lies on Linux
_OF_TORCH = re.compile(r"torch_(\d+)_")
"""The name says which process made it."""


def present() -> frozenset[str]:
    try:
        return frozenset(path.name for path in _FOLDER.iterdir())
    except OSError:
        return frozenset()


def clear_since(before: frozenset[str]) -> None:
    """Delete what came since, where its maker is dead: nobody knows its name any more."""
    for name in present() - before:
        made_by = _OF_TORCH.match(name)
        if made_by and not Path("/proc", made_by[1]).exists():
            with contextlib.suppress(OSError):
                (_FOLDER / name).unlink()
