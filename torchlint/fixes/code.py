"""The code of one file as it is written: tokens between nodes, which `ast` leaves out.

The positions of `ast` count every byte, and a token at each end shows that they do. In formatted strings, where older
releases of Python miscount, there are no tokens to find: what stands there is never edited.
"""

from __future__ import annotations

import ast
import functools
import io
import tokenize
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator

from torchlint.diagnostics import Location
from torchlint.facts.file import FileFacts
from torchlint.source.edits import Replacement

Position = tuple[int, int]
"""A line and a column, both from 1."""
_FORMATTED = (ast.JoinedStr, getattr(ast, "TemplateStr", ast.JoinedStr))
_SPACE = frozenset({tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT})


class FileCode:
    """The code of a file, by its facts."""

    def __init__(self, facts: FileFacts) -> None:
        self.facts = facts
        self.lines = facts.source.lines

    def start(self, node: ast.AST) -> Position:
        """Where a node begins, without brackets around it."""
        return self.facts.span_of(node)[:2]

    def end(self, node: ast.AST) -> Position:
        """Where a node ends, without brackets around it."""
        return self.facts.span_of(node)[2:]

    def text(self, start: Position, end: Position) -> str:
        """What stands between two places."""
        lines = [*self.lines[start[0] - 1 : end[0]]]
        lines[-1] = lines[-1][: end[1] - 1]
        lines[0] = lines[0][start[1] - 1 :]
        return "\n".join(lines)

    def text_of(self, node: ast.AST) -> str:
        """How a node is written."""
        return self.text(self.start(node), self.end(node))

    def replaced(self, node: ast.AST, text: str) -> Replacement:
        """Other text in the place of a node."""
        return Replacement(*self.start(node), *self.end(node), text)

    def indent_of(self, line: int) -> str:
        """What a line begins with."""
        text = self.lines[line - 1]
        return text[: len(text) - len(text.lstrip(" \t\f"))]

    def nodes_at(self, place: Location) -> list[ast.AST]:
        """The nodes that take up exactly this place."""
        line = self.facts.source.joined_line(place)
        return [node for node in self._nodes.get(line, ()) if self.facts.locate(node) == place]

    @functools.cached_property
    def _nodes(self) -> dict[int, list[ast.AST]]:
        found: dict[int, list[ast.AST]] = defaultdict(list)
        for node in ast.walk(self.facts.tree):
            line = getattr(node, "lineno", None)
            if line is not None:
                found[line].append(node)
        return found

    def is_in_string(self, node: ast.AST) -> bool:
        """Whether a node stands inside a formatted string."""
        return isinstance(node, ast.expr) and any(
            isinstance(above, _FORMATTED) for above, _ in self.facts.index.ancestors(node)
        )

    def has_comment(self, start: Position, end: Position) -> bool:
        """Whether a comment stands between two places."""
        return any(token.type == tokenize.COMMENT for token in self._between(start, end))

    def tokens(self, start: Position, end: Position) -> list[tokenize.TokenInfo]:
        """The tokens between two places that are code."""
        return [token for token in self._between(start, end) if token.type not in _SPACE]

    def _between(self, start: Position, end: Position) -> Iterator[tokenize.TokenInfo]:
        first = bisect_left(self._starts, start)
        last = bisect_left(self._starts, end)
        return iter(self._tokens[first:last])

    @functools.cached_property
    def _tokens(self) -> list[tokenize.TokenInfo]:
        readline = io.StringIO(self.facts.source.text, newline="\n").readline
        try:
            return list(tokenize.generate_tokens(readline))
        except (tokenize.TokenError, SyntaxError):
            return []  # what the tokenizer does not read is not edited

    @functools.cached_property
    def _starts(self) -> list[Position]:
        return [start_of(token) for token in self._tokens]


def start_of(token: tokenize.TokenInfo) -> Position:
    """Where a token begins."""
    return token.start[0], token.start[1] + 1


def end_of(token: tokenize.TokenInfo) -> Position:
    """Where a token ends."""
    return token.end[0], token.end[1] + 1
