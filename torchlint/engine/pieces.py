"""Cuts a piece out of a file and parses it losslessly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from torchlint.engine.nomination import Span
from torchlint.errors import UnreadableSource
from torchlint.source.nesting import is_safe_to_parse_natively

_HEADER = "class _:\n"
"""What an indented piece stands under, so that it parses with its own columns."""


@dataclass(frozen=True, slots=True)
class ParsedPiece:
    """A piece as LibCST sees it: `roots` are the statements to walk."""

    roots: Sequence[cst.CSTNode]
    span: Span


def parse_piece(lines: Sequence[str], span: Span) -> ParsedPiece:
    """Parse the lines of a span. Raises libcst.ParserSyntaxError, or UnreadableSource for one nested too deeply."""
    own = lines[span.first - 1 : span.last]
    indented = bool(own) and own[0][:1] in (" ", "\t", "\f") and span.first > 1
    text = (_HEADER if indented else "") + "\n".join(own) + "\n" + (_body_for(lines, span) if span.is_header else "")
    if not is_safe_to_parse_natively(text):
        raise UnreadableSource("nested too deeply to analyse", span.first)
    module = cst.parse_module(text)
    if not indented:
        return ParsedPiece(module.body, span)
    header = module.body[0]
    assert isinstance(header, cst.ClassDef)
    return ParsedPiece(header.body.body, span)


def _body_for(lines: Sequence[str], span: Span) -> str:
    """A body in the place of the one a header was cut from, indented like it."""
    below = lines[span.last]
    return below[: len(below) - len(below.lstrip(" \t\f"))] + "pass\n"
