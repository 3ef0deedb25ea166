"""Which classes of other files hold one as a part: run inside them, a module gets the gradients it gets there."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from torchlint.catalogue import Catalogue
from torchlint.config import Settings
from torchlint.engine.process_state import process_state_of
from torchlint.engine.projects import ProjectRun
from torchlint.facts.entries import is_test
from torchlint.facts.file import FileFacts
from torchlint.facts.scopes import Scope

_MOST = 3
"""Beyond a few, building them takes longer than it tells."""
_MOST_FILES = 2000


class Holders:
    """Answers for the files of one run; a project is searched when it is first asked about."""

    def __init__(self, catalogue: Catalogue, settings_of: Callable[[Path], Settings]) -> None:
        self._catalogue = catalogue
        self._settings_of = settings_of
        self._projects: dict[Path, _Project] = {}

    def of(self, file: Path, names: Sequence[str]) -> list[tuple[Path, str]]:
        """Classes of other files that construct one of a file's classes, or one that does; the outermost first."""
        project = self._project_of(file)
        return [(project.root / path, name) for path, name in reversed(project.holders(file, names))]

    def derived(self, file: Path, name: str) -> list[tuple[Path, str]]:
        """Classes of other files that have a file's class among their bases."""
        project = self._project_of(file)
        return [(project.root / path, other) for path, other in project.derived(file, name)]

    def _project_of(self, file: Path) -> _Project:
        settings = self._settings_of(file)
        if settings.root not in self._projects:
            self._projects[settings.root] = _Project(settings, self._catalogue)
        return self._projects[settings.root]


class _Project:
    def __init__(self, settings: Settings, catalogue: Catalogue) -> None:
        self.root = settings.root
        self._context = ProjectRun(settings, catalogue, (), {}).context
        self._contents = {path: self._context.read(path) for path in self._context.paths[:_MOST_FILES]}
        self._facts: dict[str, FileFacts | None] = {}

    def holders(self, file: Path, names: Sequence[str]) -> list[tuple[str, str]]:
        """The nearest first; of files outside the project there are none."""
        path = self._inside(file)
        wanted, found = [(path, name) for name in names], list[tuple[str, str]]()
        while wanted and len(found) < _MOST:
            inner = wanted.pop(0)
            for holder in self._classes(*inner, _constructing):
                if holder[0] != path and holder not in found:
                    found.append(holder)
                    wanted.append(holder)
        return found[:_MOST]

    def derived(self, file: Path, name: str) -> list[tuple[str, str]]:
        path = self._inside(file)
        return [(other, cls) for other, cls in self._classes(path, name, _deriving) if other != path][:_MOST]

    def _inside(self, file: Path) -> str:
        home, root = file.resolve(), self.root.resolve()
        return home.relative_to(root).as_posix() if home.is_relative_to(root) else ""

    def _classes(
        self, path: str, name: str, found_in: Callable[[FileFacts, str], Iterator[Scope]]
    ) -> Iterator[tuple[str, str]]:
        """By what is `found_in` the files that mention a class."""
        for other, content in self._contents.items():
            if name.encode() in content and not is_test(other):
                facts = self._read(other)
                for owner in () if facts is None else found_in(facts, f"{path}::{name}"):
                    yield other, owner.name

    def _read(self, path: str) -> FileFacts | None:
        if path not in self._facts:
            self._facts[path] = process_state_of(self._context).facts(path)
        return self._facts[path]


def _constructing(facts: FileFacts, symbol: str) -> Iterator[Scope]:
    """The classes of the top level that call a class, or hand it on to be called (`blocks = [Block, Head]`)."""
    found: dict[int, Scope] = {}
    for site in facts.symbols.calls:
        owner = facts.class_of(site.scope)
        if owner is None or owner in found or facts.symbols.scopes[owner].parent != 0:
            continue
        mentioned = [site.node.func, *site.node.args, *(keyword.value for keyword in site.node.keywords)]
        if any(symbol in facts.names(one, site.scope).names for one in mentioned):
            found[owner] = facts.symbols.scopes[owner]
    yield from (scope for scope in found.values() if scope.node.bases)  # type: ignore[attr-defined]


def _deriving(facts: FileFacts, symbol: str) -> Iterator[Scope]:
    """The classes of the top level that have a class among their bases."""
    for scope in facts.symbols.scopes:
        bases = scope.node.bases if isinstance(scope.node, ast.ClassDef) and scope.parent == 0 else []
        if any(symbol in facts.names(base, 0).names for base in bases):
            yield scope
