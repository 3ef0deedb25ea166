"""Where a project begins: the one answer for facts, settings and what is printed of them."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from torchlint.config import config_in, ends_search, find_config, home_folder
from torchlint.source.discovery import PROJECT_MARKS, holds_packages, is_manifest
from torchlint.source.exclusion import NOT_PROJECT

_INSTALLED = ("site-packages", "dist-packages")


class Roots:
    """The roots of a run, where `named` are the folders that the user named.

    The root of a file is the nearest folder above it with a torchlint configuration; else, in a folder of installed
    packages, its package; else the nearest folder with a repository or a baseline; else one with a manifest, which says
    what the project needs (`_with_manifest`); else the folder that the user named; else the folder that holds the
    file's package; else its own folder. Never above the home folder or a mount point.
    """

    def __init__(self, named: Iterable[Path] = ()) -> None:
        self._named = frozenset(map(_absolute, named))
        # Folders of one project share most of those above them.
        self._of_folder = functools.cache(self._find)
        self._above = functools.cache(self._with_ancestors)
        self._config_in = functools.cache(config_in)
        self._is_surely_root = functools.cache(_is_surely_root)
        self._is_marked = functools.cache(_is_marked)
        self._holds_others = functools.cache(holds_installed)

    def of(self, path: Path) -> Path:
        """The root folder of the project that a file or folder belongs to."""
        full = _absolute(path)
        return self._of_folder(full if full.is_dir() else full.parent)

    def _find(self, folder: Path) -> Path:
        above = self._above(folder)
        config = next(filter(None, map(self._config_in, above)), None)
        if config is not None:
            return config.parent
        installed = next((index for index, ancestor in enumerate(above) if self._holds_others(ancestor)), None)
        own = above[:installed]
        for ancestor in own:
            if self._is_surely_root(ancestor):
                return ancestor
        if installed is not None:
            return own[-1] if own else folder
        named = max((index for index, ancestor in enumerate(above) if ancestor in self._named), default=None)
        marked = self._with_manifest(above, named)
        return marked if marked is not None else _beside_package(folder if named is None else above[named])

    def _with_ancestors(self, folder: Path) -> tuple[Path, ...]:
        return (folder,) if ends_search(folder) else (folder, *self._above(folder.parent))

    def _with_manifest(self, above: Sequence[Path], named: int | None) -> Path | None:
        """The outermost folder with a manifest inside the one that was named: a manifest deeper down is for a part.

        Else the nearest one, or its parent where that has one as well: `docs/requirements.txt` is for a part, too.
        """
        marked = [index for index, ancestor in enumerate(above) if self._is_marked(ancestor)]
        inside = [index for index in marked if named is not None and index <= named]
        if inside:
            return above[inside[-1]]
        if not marked:
            return None
        nearest = marked[0]
        while nearest + 1 in marked:
            nearest += 1
        return above[nearest]


def find_root(path: Path) -> Path:
    """The root of a file or folder by itself, whatever folder the user named."""
    return Roots().of(path)


def is_project(root: Path) -> bool:
    """Whether anything says that a project begins at a folder: a configuration, a repository, a manifest."""
    config = find_config(root)
    return (config is not None and config.parent == root) or _is_surely_root(root) or _is_marked(root)


def holds_installed(folder: Path) -> bool:
    """Whether packages that have nothing to do with each other lie in a folder."""
    return folder.name in _INSTALLED or holds_packages(_names(folder))


def _is_surely_root(folder: Path) -> bool:
    return any((folder / name).exists() for name in PROJECT_MARKS)


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 - names are enough
    except OSError:
        return []


def _absolute(path: Path) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100 - `resolve` would leave the user's tree at a symbolic link


def _is_marked(folder: Path) -> bool:
    """Whether a folder holds a manifest. One in the home folder says nothing of the projects below it."""
    return folder != home_folder() and any(map(is_manifest, _names(folder)))


def _beside_package(folder: Path) -> Path:
    """The folder that holds the top package of `folder`; the package itself where others' code lies beside it."""
    if not _is_package(folder):
        return folder
    top = folder
    while _is_package(top.parent):
        top = top.parent
    is_others = top.parent.name in NOT_PROJECT or any(name.endswith(".egg-info") for name in _names(top.parent))
    return top if is_others or ends_search(top.parent) else top.parent


def _is_package(folder: Path) -> bool:
    return (folder / "__init__.py").exists()
