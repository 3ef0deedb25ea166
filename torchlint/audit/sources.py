"""The files behind the places of a page: their lines, and which function each line belongs to."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from torchlint.audit.page import Spot
from torchlint.diagnostics import Location
from torchlint.errors import UnreadableSource
from torchlint.facts.file import MAIN
from torchlint.facts.tree import is_main_guard
from torchlint.source.syntax import parse_python
from torchlint.source.text import Source, read_source

_PYTHON = (".py", ".pyw", ".ipynb")
_Key = tuple[int | None, int]
"""A cell and a line."""


@dataclass(frozen=True)
class _File:
    """One file; what cannot be read or parsed has no lines, or no functions."""

    lines: dict[_Key, str] = field(default_factory=dict)
    source: Source | None = None

    @functools.cached_property
    def symbols(self) -> dict[_Key, str]:
        """The innermost function around each line that lies in one."""
        found: dict[_Key, str] = {}
        for qualname, first, last in _functions(self.source) if self.source else ():
            for line in range(first, last + 1):
                place = self.source.locate(line, 1, line, 1) if self.source else None
                if place is not None:
                    found[place.cell, place.line] = qualname
        return found


class Sources:
    """Reads each file once, when a page asks for it."""

    def __init__(self) -> None:
        self._files: dict[str, _File] = {}

    def spot(self, location: Location, line: str = "") -> Spot:
        """The place with its line; `line` is what is known already."""
        return Spot(location, line or self._file(location.path).lines.get((location.cell, location.line), ""))

    def symbol(self, location: Location) -> str:
        """The symbol that runs a place (see facts/summary.py): a function, `<main>`, or `` at import."""
        return self._file(location.path).symbols.get((location.cell, location.line), "")

    def _file(self, path: str) -> _File:
        if path not in self._files:
            self._files[path] = _read(Path(path))
        return self._files[path]


def _read(path: Path) -> _File:
    try:
        if path.suffix not in _PYTHON:
            text = path.read_text(encoding="utf-8", errors="replace")
            return _File({(None, number): line for number, line in enumerate(text.splitlines(), 1)})
        source = read_source(path, str(path))
    except (UnreadableSource, OSError):
        return _File()  # the page shows the place without its line
    places = ((source.locate(number, 1, number, 1), text) for number, text in enumerate(source.lines, 1))
    return _File({(place.cell, place.line): text for place, text in places}, source)


def _functions(source: Source) -> Iterator[tuple[str, int, int]]:
    """Qualified name, first and last line of each function and main guard, outer ones first."""
    try:
        tree = parse_python(source)
    except UnreadableSource:
        return
    waiting: list[tuple[ast.AST, str]] = [(tree, "")]
    while waiting:
        node, owner = waiting.pop()
        for child in ast.iter_child_nodes(node):
            inner = owner
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                inner = f"{owner}.{child.name}" if owner else child.name
                if not isinstance(child, ast.ClassDef):
                    yield inner, child.lineno, child.end_lineno or child.lineno
            elif isinstance(child, ast.If) and not owner and is_main_guard(child.test):
                yield MAIN, child.lineno, child.end_lineno or child.lineno
            if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
                waiting.append((child, inner))
