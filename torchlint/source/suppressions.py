"""The comments by which a user silences findings. Which lines they cover is for the engine to say."""

from __future__ import annotations

import ast
import bisect
import contextlib
import io
import re
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import msgspec

from torchlint.source.syntax import first_line
from torchlint.source.text import Source

DirectiveKind = Literal["ignore", "noqa", "file", "file-noqa"]

_MENTIONED = re.compile(r"torchlint:|torchlint[ \t]+:|noqa", re.IGNORECASE)
_OWN = re.compile(r"#[ \t]*torchlint[ \t]*:[ \t]*(?P<word>[A-Za-z][\w-]*)[ \t]*(?P<rest>\[[^\[\]#]*\])?", re.IGNORECASE)
_CODES = r"[ \t]*:[ \t]*(?P<codes>[A-Za-z]+[0-9]+(?![\w-])(?:[ \t,]+[A-Za-z]+[0-9]+(?![\w-]))*)"
_NOQA = re.compile(rf"#[ \t]*noqa(?![\w-])(?:{_CODES})?", re.IGNORECASE)
# Words behind it without a code are no directive, for flake8 neither: the whole file would go unseen by a slip.
_FILE_NOQA = re.compile(rf"#[ \t]*(?:flake8|ruff)[ \t]*[:=][ \t]*noqa(?:{_CODES}|[ \t]*\Z)", re.IGNORECASE)
_ITEM = re.compile(r"[^\s,]+")
_CODE = re.compile(r"[A-Za-z]+[0-9]+\Z")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)*\Z")
_KINDS: dict[str, DirectiveKind] = {"ignore": "ignore", "file-ignore": "file"}
# Words that show that a directive was meant. Others are prose about torchlint, and nobody's mistake.
_ALMOST = re.compile(r"(?:ignores?|ignored|disable|enable|skip|noqa|off|allow|suppress|nolint|file)\b", re.IGNORECASE)


class SelectorSpan(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Where a selector stands; columns from 1 in code points, the end exclusive."""

    line: int
    column: int
    end_column: int


class Directive(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One ignore comment, or one of several in a comment. Lines count in the joined text."""

    kind: DirectiveKind
    selectors: tuple[str, ...]
    """Codes in capitals, rule names in small letters; empty only for a `noqa` without codes, which silences all."""
    spans: tuple[SelectorSpan, ...]
    """Where each selector stands."""
    line: int
    column: int
    end_column: int

    @property
    def is_for_file(self) -> bool:
        return self.kind in ("file", "file-noqa")

    @property
    def is_noqa(self) -> bool:
        """Whether it may name codes of other tools."""
        return self.kind in ("noqa", "file-noqa")


class Malformed(msgspec.Struct, frozen=True):
    """A comment that was meant as a directive and silences nothing."""

    message: str
    line: int
    column: int
    end_column: int


class Suppressions(msgspec.Struct, frozen=True):
    """All ignore comments of a source, in order."""

    directives: tuple[Directive, ...] = ()
    malformed: tuple[Malformed, ...] = ()


_NONE = Suppressions()


def read_suppressions(source: Source, statements: Iterable[ast.stmt] = ()) -> Suppressions:
    """Read the ignore comments. Strings that look like one are no comments.

    `statements` are those of the module, if they are at hand: no other than those around a comment are read then.
    """
    if not source.mentions("torchlint", "noqa") or _MENTIONED.search(source.text) is None:
        return _NONE
    directives: list[Directive] = []
    malformed: list[Malformed] = []
    for text, line, column in _comments(source.lines, list(_beginnings(statements))):
        is_alone = not source.lines[line - 1][: column - 1].strip()
        for item in _in_comment(text, line, column, is_alone=is_alone):
            if isinstance(item, Directive):
                directives.append(item)
            else:
                malformed.append(item)
    return Suppressions(tuple(directives), tuple(malformed))


def _beginnings(statements: Iterable[ast.stmt], end: int = 0) -> Iterator[int]:
    """The lines behind `end` that can be read without those above: at statements of the module and of its classes."""
    for statement in statements:
        first = first_line(statement)
        if first > end:
            yield from (end + 1, first)
        if isinstance(statement, ast.ClassDef):
            yield from _beginnings(statement.body, max(statement.lineno, first_line(statement.body[0]) - 1, end))
        end = max(end, statement.end_lineno or first)
    yield end + 1


def _comments(lines: Sequence[str], beginnings: Sequence[int]) -> Iterator[tuple[str, int, int]]:
    """Text, line and column (from 1) of each comment that may be meant, as far as the text can be tokenised."""
    parts: dict[int, int] = {}
    for number, line in enumerate(lines, 1):
        if "#" in line and _MENTIONED.search(line):
            parts[beginnings[bisect.bisect_right(beginnings, number) - 1]] = number
    for first, last in parts.items():
        text = io.StringIO("\n".join(lines[first - 1 : last]), newline="\n")
        # `ast` is the judge of syntax: what was read so far holds.
        with contextlib.suppress(tokenize.TokenError, SyntaxError, ValueError, RecursionError):
            for token in tokenize.generate_tokens(text.readline):
                if token.type == tokenize.COMMENT and _MENTIONED.search(token.string):
                    yield token.string, token.start[0] + first - 1, token.start[1] + 1


def _in_comment(text: str, line: int, column: int, *, is_alone: bool) -> Iterator[Directive | Malformed]:
    for own in _OWN.finditer(text):
        yield from _own(own, text, line, column)
    for noqa in _NOQA.finditer(text):
        yield _noqa("noqa", noqa, line, column)
    whole = _FILE_NOQA.match(text) if is_alone else None
    if whole is not None:
        yield _noqa("file-noqa", whole, line, column)


def _noqa(kind: DirectiveKind, match: re.Match[str], line: int, column: int) -> Directive:
    start, end = column + match.start(), column + match.end()
    items = [] if match["codes"] is None else _items(match["codes"], line, column + match.start("codes"))
    return Directive(kind, tuple(s for s, _ in items), tuple(p for _, p in items), line, start, end)


def _own(match: re.Match[str], text: str, line: int, column: int) -> Iterator[Directive | Malformed]:
    start, end = column + match.start(), column + match.end()
    word = match["word"].lower()
    kind = _KINDS.get(word)
    if kind is None:
        if _ALMOST.match(word):
            yield Malformed(
                f"`{word}` is not a torchlint comment: write `# torchlint: ignore[TL101]`", line, start, end
            )
        return
    if match["rest"] is None:
        reason = "its brackets do not close" if text[match.end() :].startswith("[") else "it needs a rule in brackets"
        yield Malformed(f"`{word}` silences nothing: {reason}, as in `{word}[TL101]`", line, start, end)
        return
    good = []
    for selector, span in _items(match["rest"][1:-1], line, column + match.start("rest") + 1):
        if _NAME.match(selector):
            good.append((selector, span))
        else:
            yield Malformed(f"`{selector}` is neither a code nor a rule's name", line, span.column, span.end_column)
    if good:
        yield Directive(kind, tuple(s for s, _ in good), tuple(p for _, p in good), line, start, end)
    elif not match["rest"][1:-1].strip(" \t,"):
        yield Malformed(f"`{word}` silences nothing: its brackets name no rule", line, start, end)


def _items(text: str, line: int, column: int) -> list[tuple[str, SelectorSpan]]:
    return [
        (
            item[0].upper() if _CODE.match(item[0]) else item[0].lower(),
            SelectorSpan(line, column + item.start(), column + item.end()),
        )
        for item in _ITEM.finditer(text)
    ]
