"""Which paths a walk leaves out: excludes of the configuration, and .gitignore files as git reads them."""

# A walk over thousands of files works on strings; a Path for each would cost more than the walk.
# ruff: noqa: PTH100, PTH110, PTH117, PTH118, PTH119, PTH120, PTH123, PTH206

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec, PathSpec, Pattern

NOT_PROJECT = frozenset(
    {
        *(".git", ".hg", ".svn", ".bzr", "__pycache__", "__pypackages__", ".eggs", "build", "dist", "buck-out"),
        *("site-packages", "node_modules", "venv", ".venv", ".direnv", ".pixi", ".tox", ".nox", ".pants.d"),
        *(".mypy_cache", ".ruff_cache", ".pytest_cache", ".pytype", ".hypothesis", ".torchlint_cache"),
        ".ipynb_checkpoints",  # older copies of the notebooks beside them
    }
)
"""Folders that hold no code of the project's own. Any folder with a `pyvenv.cfg` is one more."""

ENVIRONMENT_MARKS = frozenset({"pyvenv.cfg", "conda-meta"})
"""What lies in a virtual environment, whatever its name."""


class Exclude(msgspec.Struct, frozen=True):
    """Patterns as ruff reads them: without `/` for any part of a path, with `/` from the project's root."""

    root: str
    names: Callable[[str], object]
    paths: Callable[[str], object] | None

    def covers(self, path: str, name: str) -> bool:
        """Whether the last part of an absolute path is excluded. Its folders are asked about one by one."""
        if self.names(name):
            return True
        if self.paths is None:
            return False
        return bool(self.paths(os.path.relpath(path, self.root).replace(os.sep, "/")) or self.paths(path))

    def covers_any_part(self, path: str) -> bool:
        """Whether an absolute path, or a folder on the way to it from the root, is excluded."""
        relative = os.path.relpath(path, self.root)
        parts = [os.path.basename(path)] if relative.startswith("..") else relative.split(os.sep)
        stem = path[: len(path) - len(os.sep.join(parts))].rstrip(os.sep)
        return any(self.covers(os.path.join(stem, *parts[: n + 1]), part) for n, part in enumerate(parts))


def read_exclude(patterns: Sequence[str], root: str) -> Exclude:
    """The default excludes and those of the configuration."""
    names, paths = [re.escape(name) for name in sorted(NOT_PROJECT)], []
    for pattern in patterns:
        trimmed = pattern.replace(os.sep, "/").rstrip("/").removeprefix("./")
        if "/" not in trimmed:
            names += [fnmatch.translate(trimmed)] if trimmed else []
            continue
        if not os.path.isabs(trimmed) or not os.path.exists(os.path.dirname(trimmed)):
            trimmed = trimmed.lstrip("/")
        paths.append(fnmatch.translate(trimmed))
        if trimmed.startswith("**/"):
            paths.append(fnmatch.translate(trimmed.removeprefix("**/")))  # `**` stands for no folder as well
    return Exclude(root, _any_of(names).fullmatch, _any_of(paths).fullmatch if paths else None)


def covers_any_part(patterns: Sequence[str], root: Path, path: str) -> bool:
    """Whether these excludes leave out an absolute path, or a folder on the way to it from the root."""
    return read_exclude(patterns, os.path.abspath(root)).covers_any_part(path)


def _any_of(patterns: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


class Ignores(msgspec.Struct, frozen=True):
    """The .gitignore files that speak about a folder, the nearest last."""

    specs: tuple[tuple[str, PathSpec[Pattern], PathSpec[Pattern]], ...] = ()
    """Absolute folder with its closing separator, and the patterns relative to it: for files, and for folders.

    Of a folder the last pattern decides that matches it (`*` and `!*/` leave all folders in), of a file not one that
    matches a folder above it.
    """

    def cover(self, path: str, *, is_folder: bool) -> bool:
        """Whether git would leave out this absolute path, its folder not being left out itself."""
        for base, for_files, for_folders in reversed(self.specs):
            relative = path[len(base) :].replace(os.sep, "/")
            found = for_folders.check_file(f"{relative}/") if is_folder else for_files.check_file(relative)
            verdict = found.include
            if verdict is not None:
                return verdict
        return False

    def entering(self, folder: str) -> Ignores:
        """The same with the folder's own .gitignore, which overrules those above."""
        return _extended(self, folder, os.path.join(folder, ".gitignore"))


def _extended(ignores: Ignores, base: str, file: str) -> Ignores:
    try:
        with open(file, encoding="utf-8", errors="replace") as opened:
            lines = opened.read().splitlines()
    except (OSError, ValueError):
        return ignores
    if not any(line.strip() for line in lines):
        return ignores
    # Imported here: 30 ms, and many folders hold no .gitignore.
    from pathspec import GitIgnoreSpec, PathSpec  # noqa: PLC0415

    # To pathspec `data/**` is the folder as well; to git it is what lies inside.
    lines = [f"{line}/*" if line.endswith("/**") else line for line in lines]
    spec = GitIgnoreSpec.from_lines([line for line in lines if _is_valid(line, GitIgnoreSpec)])
    return Ignores((*ignores.specs, (base.rstrip(os.sep) + os.sep, spec, PathSpec(spec.patterns))))


def _is_valid(line: str, spec: type[GitIgnoreSpec]) -> bool:
    try:
        spec.from_lines([line])
    except ValueError:
        return False  # git passes over a pattern it cannot read
    return True


def ignores_above(folder: str) -> Ignores:
    """What the repository says about an absolute folder, from its root down to the folder's parent.

    A folder that is itself ignored was named by the user all the same: nothing above it counts then.
    """
    chain = [folder]
    while not os.path.exists(os.path.join(chain[-1], ".git")):
        parent = os.path.dirname(chain[-1])
        if parent == chain[-1]:
            return Ignores()
        chain.append(parent)
    top = chain.pop()
    ignores = _extended(Ignores(), top, os.path.join(top, ".git", "info", "exclude"))
    while chain:
        ignores = ignores.entering(top)
        top = chain.pop()
        if ignores.cover(top, is_folder=True):
            return Ignores()
    return ignores
