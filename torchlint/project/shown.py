"""How users see the files of a project."""

from __future__ import annotations

import functools
import os
from pathlib import Path


@functools.lru_cache(maxsize=100_000)
def shown_path(root: Path, path: str) -> str:
    """A path inside a project: relative to the working directory when it lies below, with `/`."""
    above = _relative_root(root)
    if above is not None and not path.startswith("..") and not os.path.isabs(path):  # noqa: PTH117 - as below
        return os.path.normpath(os.path.join(above, path)).replace(os.sep, "/")  # noqa: PTH118 - pathlib is slow here
    full = os.path.join(root, path)  # noqa: PTH118 - as above, and every file passes
    relative = os.path.relpath(full)
    return (full if relative.startswith("..") else relative).replace(os.sep, "/")


@functools.lru_cache(maxsize=64)
def _relative_root(root: Path) -> str | None:
    """A root from the working directory; None for one that does not lie below."""
    relative = os.path.relpath(root)
    return None if relative.startswith("..") else relative
