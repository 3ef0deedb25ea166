"""Which classes of other files hold one as a part: run inside them, a module gets the gradients it gets there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from torchlint.catalogue import Catalogue
from torchlint.config import Settings
from torchlint.engine.project_context import process_state_of
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
        settings = self._settings_of(file)
        project = self._projects.get(settings.root)
        if project is None:
            project = self._projects[settings.root] = _Project(settings, self._catalogue)
        return [(settings.root / path, name) for path, name in reversed(project.holders(file, names))]


class _Project:
    def __init__(self, settings: Settings, catalogue: Catalogue) -> None:
        self._root = settings.root
        self._context = ProjectRun(settings, catalogue, (), {}).context
        self._contents = {path: self._context.read(path) for path in self._context.paths[:_MOST_FILES]}
        self._facts: dict[str, FileFacts | None] = {}

    def holders(self, file: Path, names: Sequence[str]) -> list[tuple[str, str]]:
        """The nearest first; of files outside the project there are none."""
        home = file.resolve()
        path = home.relative_to(self._root.resolve()).as_posix() if home.is_relative_to(self._root.resolve()) else ""
        wanted, found = [(path, name) for name in names], list[tuple[str, str]]()
        while wanted and len(found) < _MOST:
            inner = wanted.pop(0)
            for holder in self._holding(*inner):
                if holder[0] != path and holder not in found:
                    found.append(holder)
                    wanted.append(holder)
        return found[:_MOST]

    def _holding(self, path: str, name: str) -> Iterator[tuple[str, str]]:
        symbol = f"{path}::{name}"
        for other, content in self._contents.items():
            if name.encode() in content and not is_test(other):
                facts = self._read(other)
                for owner in () if facts is None else _constructing(facts, symbol):
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
