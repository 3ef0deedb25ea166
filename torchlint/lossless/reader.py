"""The exact source of a node: the statement around it is parsed once more by LibCST, when a check quotes it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

import libcst as cst

from torchlint.errors import UnreadableSource
from torchlint.facts.file import FileFacts
from torchlint.lossless.spans import Span, span_of
from torchlint.lossless.twins import block, pairs
from torchlint.source.nesting import is_safe_to_parse_natively

_HEADER = "class _:\n"
"""What an indented piece stands under, so that it parses with its own columns."""
_EMPTY = cst.Module([])


class Lossless:
    """The source of one file, as it is written."""

    def __init__(self, facts: FileFacts) -> None:
        self._facts = facts
        self._read: dict[Span, dict[ast.AST, cst.CSTNode]] = {}

    def code(self, node: ast.AST, statement: ast.stmt) -> str:
        """The source of a node of a statement; of an operation without its own brackets.

        Raises UnreadableSource where LibCST cannot read the statement.
        """
        found = self.twin(node, statement)
        if isinstance(found, cst.BinaryOperation):
            found = found.with_changes(lpar=(), rpar=())
        return _EMPTY.code_for_node(found)

    def twin(self, node: ast.AST, statement: ast.stmt) -> cst.CSTNode:
        """The LibCST node of an `ast` node of a statement. Raises UnreadableSource, also where `twins` pairs none."""
        span = span_of(self._facts, statement)
        if span not in self._read:
            self._read[span] = {}  # of what cannot be read it is tried once, however much is quoted
            self._read[span] = {twin: node for node, twin in read_span(self._facts, span)}
        found = self._read[span].get(node)
        if found is None:
            raise UnreadableSource("nothing lossless is paired with it", span.first)
        return found


def read_span(facts: FileFacts, span: Span) -> Iterator[tuple[cst.CSTNode, ast.AST]]:
    """Every node of a span with its twin, in source order. Raises UnreadableSource."""
    try:
        for node, twin in block(_parse(facts, span), span.statements):
            yield from _header(node, twin) if span.is_header else _below(node, twin)
    except (cst.ParserSyntaxError, RecursionError) as error:
        raise UnreadableSource(f"cannot be analysed: {str(error).splitlines()[0]}", span.first) from error


def _below(node: cst.CSTNode, twin: ast.AST) -> Iterator[tuple[cst.CSTNode, ast.AST]]:
    yield node, twin
    for child, its_twin in pairs(node, twin):
        yield from _below(child, its_twin)


def _header(node: cst.CSTNode, twin: ast.AST) -> Iterator[tuple[cst.CSTNode, ast.AST]]:
    """A compound statement without its body."""
    yield node, twin
    for child, its_twin in pairs(node, twin):
        if isinstance(its_twin, ast.stmt):
            return
        yield from _below(child, its_twin)


def _parse(facts: FileFacts, span: Span) -> Iterator[cst.CSTNode]:
    """The statements of a span. Raises libcst.ParserSyntaxError, or UnreadableSource for one nested too deeply."""
    lines = facts.source.lines
    own = lines[span.first - 1 : span.last]
    indented = bool(own) and own[0][:1] in (" ", "\t", "\f") and span.first > 1
    text = (_HEADER if indented else "") + "\n".join(own) + "\n" + (_body_for(lines, span) if span.is_header else "")
    if not is_safe_to_parse_natively(text):
        raise UnreadableSource("nested too deeply to analyse", span.first)
    module = cst.parse_module(text)
    if not indented:
        return iter(module.body)
    header = module.body[0]
    assert isinstance(header, cst.ClassDef)
    return iter(header.body.body)


def _body_for(lines: Sequence[str], span: Span) -> str:
    """A body in the place of the one a header was cut from, indented like it."""
    below = lines[span.last]
    return below[: len(below) - len(below.lstrip(" \t\f"))] + "pass\n"
