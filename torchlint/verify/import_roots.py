"""Folders of a project that its programs put on the path: they hold modules that are imported by a bare name."""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

_MOST_FILES = 2000
_MOST_PLACES = 3
"""A module that is there more often than that is found by luck alone."""
_IMPORT = re.compile(rb"^[ \t]*(?:from[ \t]+([A-Za-z_]\w*)[\w.]*[ \t]+import|import[ \t]+([A-Za-z_]\w*))", re.MULTILINE)


def import_roots(files: Sequence[Path], root: Path) -> tuple[Path, ...]:
    """Those from which imports of the project's files are found that are found neither beside them nor in the root."""
    places = _places(files, root)
    found: dict[Path, None] = {}
    for path in files[:_MOST_FILES]:
        for name in _imported(path):
            folders = places.get(name, ())
            if name not in sys.stdlib_module_names and 0 < len(folders) <= _MOST_PLACES and not _beside(path, folders):
                found.update(dict.fromkeys(folders))
    found.pop(root, None)
    return tuple(found)


def nearest(folders: Iterable[Path], path: Path) -> list[Path]:
    """The folders that share most of their path with a file's first."""
    return sorted(folders, key=lambda folder: -len(set(folder.parents) & set(path.parents)))


def _places(files: Iterable[Path], root: Path) -> dict[str, list[Path]]:
    """By name the folders that hold a module or package that is called so."""
    places: dict[str, dict[Path, None]] = defaultdict(dict)
    for path in files:
        is_package = path.name == "__init__.py"
        places[path.parent.name if is_package else path.stem][path.parents[1] if is_package else path.parent] = None
        if path.parent != root and not is_package:
            places[path.parent.name][path.parents[1]] = None  # a package needs no `__init__`
    return {name: list(folders) for name, folders in places.items()}


def _imported(path: Path) -> Iterator[str]:
    try:
        data = path.read_bytes()
    except OSError:
        return
    yield from dict.fromkeys((one or other).decode() for one, other in _IMPORT.findall(data))


def _beside(path: Path, folders: Sequence[Path]) -> bool:
    """Whether the import is found from the file's own folder."""
    return path.parent in folders
