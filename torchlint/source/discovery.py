"""Which files to check, and which files tell facts about the project."""

# A walk over thousands of files works on strings; a Path for each would cost more than the walk.
# ruff: noqa: PTH100, PTH110, PTH112, PTH114, PTH118, PTH119

from __future__ import annotations

import fnmatch
import os
import re
import stat
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import msgspec

from torchlint.config import BASELINE_FILE
from torchlint.diagnostics import Skipped
from torchlint.source.exclusion import (
    ENVIRONMENT_MARKS,
    NOT_PROJECT,
    Exclude,
    Ignores,
    ignores_above,
    read_exclude,
)

SUFFIXES = (".py", ".pyw", ".ipynb")
_SHEBANG = re.compile(rb"#!\s*/[^\n]*\bpython")
_LARGEST_ENVIRONMENT_FILE = 256 * 1024
_MOST_ENTRIES = 1_000_000

_ENVIRONMENT = re.compile(
    "|".join(
        fnmatch.translate(pattern)
        for pattern in (
            *("Dockerfile*", "*.dockerfile", "Containerfile*", "*.sh", "*.bash", "*.zsh", "*.slurm", "*.sbatch"),
            *(
                "Makefile",
                "makefile",
                "GNUmakefile",
                "*.mk",
                "justfile",
                ".env*",
                "*.env",
                "*.yml",
                "*.yaml",
                "tox.ini",
            ),
        )
    )
)
_MANIFESTS = re.compile(
    "|".join(
        fnmatch.translate(pattern)
        for pattern in (
            *("pyproject.toml", "setup.cfg", "setup.py", "requirements*.txt", "environment*.yml", "environment*.yaml"),
            *("env.yml", "env.yaml", "conda*.yml", "conda*.yaml", "Pipfile", "Pipfile.lock"),
            *("uv.lock", "poetry.lock", "pdm.lock", "pylock*.toml", "Dockerfile*", "*.dockerfile", "Containerfile*"),
        )
    )
)
_TELLING = (*SUFFIXES, ".toml", ".json", ".txt")
PROJECT_MARKS = frozenset({".git", ".hg", BASELINE_FILE})
"""Where a project surely begins: a baseline was written where the root was, so there it stays."""
_RECORD = re.compile(r".*\.dist-info|.*-.*\.egg-info")
"""What an installation leaves beside a package. A `net.egg-info` without a version may be that of a checkout."""
_INSTALLING = re.compile("|".join(map(fnmatch.translate, ("*.sh", "*.bash", "*.zsh"))))
"""Scripts, which may install what a project needs; a script alone makes no folder a project."""


class Discovery(msgspec.Struct, frozen=True):
    """The files to check, sorted, each real file once."""

    files: tuple[Path, ...]
    missing: tuple[Path, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    """Folders that cannot be read."""


class ProjectFiles(msgspec.Struct, frozen=True):
    """The files of a project that tell facts, each tuple sorted."""

    sources: tuple[Path, ...]
    environment: tuple[Path, ...]
    requirements: tuple[Path, ...]
    """Manifests, and scripts that may install what is needed."""
    truncated: bool = False
    """There were more files than the limit; what was found is not the whole project."""


class _Folder(msgspec.Struct, frozen=True):
    """One folder to enter: its absolute path, its path as shown, and where it really lies."""

    full: str
    shown: str
    real: str
    ignores: Ignores


class _Walk(msgspec.Struct):
    """One discovery in progress."""

    exclude: Exclude
    respect_gitignore: bool
    found: dict[str, str] = msgspec.field(default_factory=dict)
    """Real path to the path as shown."""
    named: dict[str, str] = msgspec.field(default_factory=dict)
    """The same for files the user named: they keep that name."""
    entered: set[str] = msgspec.field(default_factory=set)
    links: list[_Folder] = msgspec.field(default_factory=list)
    skipped: list[Skipped] = msgspec.field(default_factory=list)


def discover(
    paths: Sequence[Path], *, root: Path, exclude: Sequence[str], force_exclude: bool, respect_gitignore: bool = True
) -> Discovery:
    """Find the files to check under the given files and folders.

    Excludes and .gitignore files judge only what lies below a folder the user named, unless `force_exclude`
    asks for the excludes (not .gitignore) to judge named paths too.
    """
    walk = _Walk(read_exclude(exclude, os.path.abspath(root)), respect_gitignore)
    missing = []
    for path in paths:
        if not os.path.exists(path):
            missing.append(path)
            continue
        shown = str(path)
        full = os.path.abspath(shown)
        if force_exclude and walk.exclude.covers_any_part(full):
            continue
        if os.path.isdir(full):
            _walk_named(walk, full, shown)
        else:
            walk.named.setdefault(os.path.realpath(full), shown)
    files = sorted(Path(shown) for shown in {**walk.found, **walk.named}.values())
    return Discovery(tuple(files), tuple(missing), tuple(dict.fromkeys(walk.skipped)))


def _walk_named(walk: _Walk, full: str, shown: str) -> None:
    ignores = ignores_above(full) if walk.respect_gitignore else Ignores()
    named = _Folder(full, shown, os.path.realpath(full), ignores)
    pending = [named]
    while pending or walk.links:
        # Links last, so that a folder inside the tree is shown by its own path and not by a link to it.
        folder = pending.pop() if pending else walk.links.pop(0)
        if folder.real in walk.entered:
            continue
        entries = _entries(walk, folder)
        if folder is named or ENVIRONMENT_MARKS.isdisjoint(entry.name for entry in entries):
            pending += _enter(walk, folder, entries)


def _entries(walk: _Walk, folder: _Folder) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder.full) as scan:
            return sorted(scan, key=lambda entry: entry.name)
    except OSError as error:
        walk.skipped.append(Skipped(f"folder cannot be read: {error.strerror or error}", _printed(folder.shown)))
        return []


def _enter(walk: _Walk, folder: _Folder, entries: list[os.DirEntry[str]]) -> list[_Folder]:
    """Note the files of a folder; return the folders below it that are to be entered."""
    walk.entered.add(folder.real)
    ignores = folder.ignores
    if walk.respect_gitignore and any(entry.name == ".gitignore" for entry in entries):
        ignores = ignores.entering(folder.full)
    below: list[_Folder] = []
    for entry in entries:
        is_folder = _is_folder(entry)
        if not is_folder and not (_is_source(entry) and _is_file(entry)):
            continue
        path = os.path.join(folder.full, entry.name)
        if walk.exclude.covers(path, entry.name) or ignores.cover(path, is_folder=is_folder):
            continue
        is_link = entry.is_symlink()
        real = os.path.realpath(path) if is_link else os.path.join(folder.real, entry.name)
        shown = os.path.join(folder.shown, entry.name)
        if is_folder:
            (walk.links if is_link else below).append(_Folder(path, shown, real, ignores))
        elif real not in walk.found or (not is_link and os.path.islink(walk.found[real])):
            walk.found[real] = shown
    return below


def _is_source(entry: os.DirEntry[str]) -> bool:
    """Whether a name is that of a Python file or notebook, or an executable file without suffix says `#!python`."""
    if "." in entry.name:
        return entry.name.lower().endswith(SUFFIXES)
    try:
        if not entry.is_file() or not entry.stat().st_mode & stat.S_IXUSR:
            return False
        with open(entry.path, "rb") as file:  # noqa: PTH123 - see above
            return _SHEBANG.match(file.read(128)) is not None
    except OSError:  # nothing says that it is Python
        return False


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:  # a link that leads to itself
        return False


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _printed(path: str) -> str:
    return str(Path(path)).replace(os.sep, "/")


def scan_project(root: Path, *, limit: int = 50_000) -> ProjectFiles:
    """Walk a project once for its Python files and notebooks, environment files and requirements.

    Git-ignored and excluded files count; virtual environments, installed packages, build folders and linked
    folders never do. Stops at the limit of Python files, or at a million entries of any kind.
    """
    sources: list[str] = []
    environment: list[str] = []
    requirements: list[str] = []
    seen = 0
    for folder, entries in _project_folders(os.fspath(root)):
        seen += len(entries)
        for entry in entries:
            name = entry.name
            path = os.path.join(folder, name)
            if _is_source(entry):
                sources.append(path)
            if _ENVIRONMENT.match(name) and _size(entry) <= _LARGEST_ENVIRONMENT_FILE:
                environment.append(path)
            if is_manifest(name) or _may_install(folder, entry):
                requirements.append(path)
        if len(sources) > limit or seen > _MOST_ENTRIES:
            break
    truncated = len(sources) > limit or seen > _MOST_ENTRIES
    return ProjectFiles(_sorted(sources[:limit]), _sorted(environment), _sorted(requirements), truncated)


def files_with(suffixes: Sequence[str], root: Path) -> Iterator[Path]:
    """The files below a project's folder that end so, in sorted order, where `scan_project` looks."""
    seen = 0
    for folder, entries in _project_folders(os.fspath(root)):
        seen += len(entries)
        yield from (Path(folder, each.name) for each in entries if each.name.endswith(tuple(suffixes)))
        if seen > _MOST_ENTRIES:
            return


def _project_folders(root: str) -> Iterator[tuple[str, list[os.DirEntry[str]]]]:
    """Each folder with its files, in sorted order."""
    pending = [root]
    while pending:
        folder = pending.pop()
        try:
            with os.scandir(folder) as scan:
                entries = sorted(scan, key=lambda entry: entry.name)
        except OSError:
            continue  # a check that names the folder says so
        names = [entry.name for entry in entries]
        if folder != root and (not ENVIRONMENT_MARKS.isdisjoint(names) or holds_packages(names)):
            continue
        below = [e.path for e in entries if e.name not in NOT_PROJECT and e.is_dir(follow_symlinks=False)]
        pending += reversed(below)
        yield folder, [entry for entry in entries if _is_file(entry)]


def holds_packages(names: Collection[str]) -> bool:
    """Whether these names in a folder are of packages that were installed or unpacked there, side by side.

    A project of its own may have them among its files (`pip install -t .`).
    """
    is_installed = any(name.endswith("-info") and _RECORD.fullmatch(name) for name in names)
    return is_installed and not any(name in PROJECT_MARKS or is_manifest(name) for name in names)


def tells_facts(name: str) -> bool:
    """Whether what a project is said may change with a file of this name: a source, a manifest, a configuration.

    A name without suffix may be that of a folder, or of a script.
    """
    is_known = name in PROJECT_MARKS or name == ".gitignore" or "." not in name
    return is_known or name.lower().endswith(_TELLING) or is_manifest(name) or _ENVIRONMENT.match(name) is not None


def is_manifest(name: str) -> bool:
    """Whether a file of this name says what a project needs to run."""
    return _MANIFESTS.match(name) is not None


def _may_install(folder: str, entry: os.DirEntry[str]) -> bool:
    if _INSTALLING.match(entry.name):
        return _size(entry) <= _LARGEST_ENVIRONMENT_FILE
    return entry.name.endswith(".txt") and os.path.basename(folder) == "requirements"


def _size(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat().st_size
    except OSError:
        return 0


def _sorted(paths: list[str]) -> tuple[Path, ...]:
    return tuple(sorted(Path(path) for path in paths))
