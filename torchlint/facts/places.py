"""Places of a file as plain data: where a finding may stand, and which lines an ignore comment may stand on."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import msgspec

from torchlint.diagnostics import Location
from torchlint.facts.file import FileFacts
from torchlint.source.syntax import first_line


class Place(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """All that a diagnostic needs of the place it stands at."""

    location: Location
    source_line: str
    """The physical line it starts on."""
    lines: tuple[int, int]
    """First and last line of its statement, in the joined source."""


class Found(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What code does that others ask about, and where it does so."""

    path: str
    """Of the file, inside its project."""
    symbol: str
    place: Place


def place_of(facts: FileFacts, node: ast.AST, statement: ast.stmt | None = None) -> Place:
    """The place of a statement, or of an expression in `statement`; of a compound statement, its first line."""
    line: int = getattr(node, "lineno", 1)
    text = facts.source.lines[line - 1] if line <= len(facts.source.lines) else ""
    location = facts.locate(node)
    if hasattr(node, "body"):
        location = facts.source.locate(line, location.column if line > 1 else 1, line, len(text.rstrip()) + 1)
    around = statement or (node if isinstance(node, ast.stmt) else None)
    return Place(location, text, (line, line) if around is None else _own_lines(around))


def bodies_of(facts: FileFacts, symbol: str) -> Iterator[Place]:
    """The places of the first statement, after the docstring, of each function of this name."""
    for scope in facts.symbols.scopes:
        if scope.qualname == symbol and isinstance(scope.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            body = scope.node.body
            has_words = len(body) > 1 and ast.get_docstring(scope.node, clean=False) is not None
            yield place_of(facts, body[1 if has_words else 0])


def statement_lines(facts: FileFacts) -> dict[int, tuple[int, int]]:
    """By the line: the lines of the smallest statement around it, or only the header's for a compound statement."""
    found: dict[int, tuple[int, int]] = {}
    spans = {_own_lines(statement) for statement in facts.symbols.parents}
    for first, last in sorted(spans, key=lambda span: (span[1] - span[0], span)):
        for line in range(first, last + 1):
            found.setdefault(line, (first, last))
    return found


def _own_lines(statement: ast.stmt) -> tuple[int, int]:
    first = first_line(statement)
    body = getattr(statement, "body", None) or getattr(statement, "cases", None)
    if not isinstance(body, list):
        return first, statement.end_lineno or statement.lineno
    start = body[0].pattern if isinstance(body[0], ast.match_case) else body[0]
    return first, max(statement.lineno, first_line(start) - 1)
