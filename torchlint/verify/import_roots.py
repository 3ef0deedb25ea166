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
    places, packages = _places(files, root), _without_init(files)
    found: dict[Path, None] = {}
    for path in files[:_MOST_FILES]:
        for name in _imported(path):
            folders = places.get(name, ())
            is_found = name in sys.stdlib_module_names or root in folders or path.parent in folders
            if not is_found and len(folders) <= _MOST_PLACES:
                found.update(dict.fromkeys(folders))
    # A module of any folder on the path is preferred to a package without an `__init__`, wherever that is.
    return tuple(folder for folder in found if not any((folder / f"{name}.py").exists() for name in packages))


def _without_init(files: Iterable[Path]) -> frozenset[str]:
    """The names of folders of modules that have no `__init__`."""
    folders = {path.parent for path in files}
    return frozenset(folder.name for folder in folders if not (folder / "__init__.py").exists())


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
