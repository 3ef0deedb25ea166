"""A copy of a project to run from, where nothing keeps its code from writing beside itself.

What an absolute path leads to is not protected by a copy.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from torchlint.errors import TorchlintError

LARGEST_FILE = 1 << 20
LARGEST_COPY = 256 << 20
_LEFT_OUT = frozenset(
    {".git", ".hg", ".svn", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".tox", ".torchlint_cache", "__pycache__"}
    | {".nox", ".venv", "venv", "node_modules", "site-packages", "wandb", "mlruns", "lightning_logs"}
)
"""Folders of tools, environments and runs: large, and not what a program imports or reads."""


def copy_of(root: Path, into: Path, *, largest_file: int = LARGEST_FILE, largest_copy: int = LARGEST_COPY) -> Path:
    """Copy sources and small files of `root` to `into`, a new folder; TorchlintError where they are too many.

    Links are not followed, and those that lead outside are left out: behind a link the original would be written to.
    """
    into.mkdir(parents=True)
    total = 0
    for source, size in _files(root, largest_file, into):
        total += size
        if total > largest_copy:
            raise TorchlintError(
                f"{root} holds more than {largest_copy >> 20} MiB in small files: too much to run from a copy, "
                "which this system needs; name the folder of the sources instead"
            )
        destination = into / source.relative_to(root)
        destination.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):  # it was deleted meanwhile
            shutil.copyfile(source, destination)
    return into


def _files(root: Path, largest: int, into: Path) -> Iterator[tuple[Path, int]]:
    for folder, names, files in os.walk(root):
        names[:] = [
            name
            for name in names
            if name not in _LEFT_OUT
            and Path(folder) / name != into  # where the project is all that can be written to
            and not (Path(folder) / name / "pyvenv.cfg").exists()
        ]
        for name in files:
            path = Path(folder) / name
            if path.is_symlink() or not path.is_file():
                continue
            size = path.stat().st_size
            if size <= largest or path.suffix == ".py":
                yield path, size
