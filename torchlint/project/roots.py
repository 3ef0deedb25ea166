"""Where a project begins."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from torchlint.config import find_config

_BUILD_FILES = ("pyproject.toml", "setup.py", "setup.cfg")


def find_root(path: Path) -> Path:
    """The root folder of the project that the file or folder `path` belongs to.

    The nearest folder with a torchlint configuration; else with `.git`; else with a build file; else the topmost
    folder of its package chain; else its own folder. Never above the home folder or a mount point.
    """
    folder = path if path.is_dir() else path.parent
    config = find_config(folder)
    if config is not None:
        return config.parent
    ancestors = list(_ancestors(folder))
    for marker in ((".git",), _BUILD_FILES):
        for ancestor in ancestors:
            if any((ancestor / name).exists() for name in marker):
                return ancestor
    return _package_top(folder)


def _ancestors(folder: Path) -> Iterator[Path]:
    home = Path.home()
    for ancestor in (folder, *folder.parents):
        yield ancestor
        if ancestor == home or ancestor.is_mount():
            return


def _package_top(folder: Path) -> Path:
    top = folder
    while (top / "__init__.py").exists() and (top.parent / "__init__.py").exists():
        top = top.parent
    return top
