"""Modules whose decorators put classes into a registry: what looks them up by name finds them only once they ran."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

from torchlint.errors import UnreadableSource
from torchlint.source.syntax import parse_text
from torchlint.verify.loading import File, module_of
from torchlint.verify.names import root_name

_MOST_FILES = 2000
_MOST_MODULES = 20


class Registrations:
    """Those of a project's files."""

    def __init__(self, files: Sequence[Path]) -> None:
        self._by_source: dict[str, list[Path]] = {}
        """By the last part of the module that the registry is imported from."""
        for path in files[:_MOST_FILES]:
            for source in sorted(_sources(path)):
                self._by_source.setdefault(source, []).append(path)

    def into_those_of(self, file: File, cut: str) -> tuple[str, ...]:
        """The modules that register into what a cut of the file looks things up in, by their dotted names."""
        imported = _imported(file.tree) if self._by_source else {}
        sources = {imported[name] for name in _looked_up(parse_text(cut)) if name in imported} if imported else set()
        found = [path for source in sorted(sources) for path in self._by_source.get(source, ()) if path != file.path]
        return tuple(dict.fromkeys(module_of(path) for path in found[:_MOST_MODULES]))


def _sources(path: Path) -> frozenset[str]:
    """The modules whose registries a file's definitions are put into."""
    try:
        if b"regist" not in path.read_bytes():
            return frozenset()
        tree = File.read(path).tree
    except (OSError, UnreadableSource):
        return frozenset()
    imported = _imported(tree)
    return frozenset(imported[name] for name in _registrars(tree) if name in imported)


def _looked_up(tree: ast.Module) -> Iterator[str]:
    """The names that are read, those aside that a decorator registers with."""
    registering = {
        id(node) for each in ast.walk(tree) for one in getattr(each, "decorator_list", ()) for node in ast.walk(one)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and id(node) not in registering:
            yield node.id


def _registrars(tree: ast.Module) -> Iterator[str]:
    for statement in tree.body:
        for decorator in getattr(statement, "decorator_list", ()):
            if "regist" in ast.unparse(decorator).lower():
                yield root_name(decorator) or ""


def _imported(tree: ast.Module) -> dict[str, str]:
    """By the name that an import binds the last part of the module that it comes from, or that it is."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                found[alias.asname or alias.name] = (node.module or alias.name).rpartition(".")[2]
    return found
