"""The lines of a file that LibCST is given: as few as parse on their own."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from torchlint.facts.control.blocks import following, preceding
from torchlint.facts.file import FileFacts
from torchlint.source.syntax import first_line

_HEADED = (
    ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith,
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Span:
    """Whole physical lines, both ends included, and the statements of one block that stand on them.

    Of a compound statement it may be the header alone.
    """

    first: int
    last: int
    statements: tuple[ast.stmt, ...]
    is_header: bool = False


def span_of(facts: FileFacts, statement: ast.stmt) -> Span:
    """The smallest run of whole logical lines that holds a statement and parses on its own."""
    symbols = facts.symbols
    current: ast.stmt | None = statement
    while current is not None:
        first, last = first_line(current), current.end_lineno or current.lineno
        if _starts_its_line(facts, current, first):
            below_header = _body_line(current) if current is statement else None
            if below_header is not None:
                return Span(first, below_header - 1, (current,), is_header=True)
            return _through_semicolons(facts, current, first, last)
        current = _previous_on_line(facts, current) or symbols.parents[current]
    return whole_file(facts)


def _body_line(statement: ast.stmt) -> int | None:
    """The first line of a compound statement's body, when its header has lines of its own."""
    if not isinstance(statement, _HEADED):
        return None
    line = first_line(statement.body[0])
    return line if line > _header_end(statement) else None


def _header_end(statement: ast.stmt) -> int:
    """The last line that a header's own expressions reach."""
    nodes = [
        child
        for child in ast.iter_child_nodes(statement)
        if not isinstance(child, ast.stmt | ast.excepthandler | ast.match_case)
    ]
    ends: list[int] = [getattr(node, "end_lineno", None) or 0 for child in nodes for node in ast.walk(child)]
    return max([statement.lineno, *ends])


def _starts_its_line(facts: FileFacts, statement: ast.stmt, first: int) -> bool:
    line = facts.source.lines[first - 1]
    if getattr(statement, "decorator_list", None):
        return line.lstrip().startswith("@")
    before = line.encode()[: statement.col_offset].decode(errors="replace")
    is_elif = isinstance(statement, ast.If) and line[len(before) :].startswith("elif")
    return not before.strip(" \t\f") and not is_elif


def _previous_on_line(facts: FileFacts, statement: ast.stmt) -> ast.stmt | None:
    above = preceding(facts, statement)
    return above[-1] if above and above[-1].end_lineno == statement.lineno else None


def _through_semicolons(facts: FileFacts, statement: ast.stmt, first: int, last: int) -> Span:
    joined = [statement]
    for below in following(facts, statement):
        if below.lineno != last:
            break
        joined.append(below)
        last = below.end_lineno or below.lineno
    return Span(first, last, tuple(joined))


def whole_file(facts: FileFacts) -> Span:
    """The whole file as one piece."""
    return Span(1, len(facts.source.lines), tuple(facts.tree.body))
