"""How users see the files of a project."""

from __future__ import annotations

import functools
import os
from pathlib import Path


@functools.lru_cache(maxsize=100_000)
def shown_path(root: Path, path: str) -> str:
    """A path inside a project: relative to the working directory when it lies below, with `/`."""
    folder, name = os.path.split(path)
    return os.path.join(_shown_folder(root, folder), name).replace(os.sep, "/")  # noqa: PTH118 - pathlib is slow here


@functools.lru_cache(maxsize=10_000)
def _shown_folder(root: Path, folder: str) -> str:
    """The same of a folder; empty for the working directory. To ask the system takes long, and many files share one."""
    full = os.path.join(root, folder) if folder else str(root)  # noqa: PTH118
    relative = os.path.relpath(full)
    if relative.startswith(".."):
        return full
    return "" if relative == "." else relative
