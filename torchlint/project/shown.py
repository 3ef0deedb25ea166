"""How users see the files of a project."""

from __future__ import annotations

import functools
import os
from pathlib import Path


@functools.lru_cache(maxsize=100_000)
def shown_path(root: Path, path: str) -> str:
    """A path inside a project: relative to the working directory when it lies below, with `/`."""
    full = os.path.join(root, path)  # noqa: PTH118 - pathlib is slow here, and every file passes
    relative = os.path.relpath(full)
    return (full if relative.startswith("..") else relative).replace(os.sep, "/")
