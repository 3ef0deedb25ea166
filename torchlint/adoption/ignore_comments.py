"""Writes `# torchlint: ignore[TL101]` where findings are: nothing but comments is added to a file."""

from __future__ import annotations

import ast
import functools
import io
import tokenize
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from torchlint.diagnostics import Diagnostic
from torchlint.errors import UnreadableSource
from torchlint.source.edits import LINE_END, Replacement, edited, insertion
from torchlint.source.suppressions import read_suppressions
from torchlint.source.syntax import parse_python
from torchlint.source.text import Source
from torchlint.source.written_files import home_of, sources_of

_LINE_ENDS = frozenset({tokenize.NEWLINE, tokenize.NL})
# Since Python 3.12 a formatted string is several tokens, with line ends inside.
_OPENING = frozenset({getattr(tokenize, "FSTRING_START", None), getattr(tokenize, "TSTRING_START", None)} - {None})
_CLOSING = frozenset({getattr(tokenize, "FSTRING_END", None), getattr(tokenize, "TSTRING_END", None)} - {None})
_UNREAD = "a file that does not parse cannot take a comment: use `per-file-ignores` in the configuration"
_NO_LINE = "no line of its statement can take a comment: use `per-file-ignores` in the configuration"


class Commented(msgspec.Struct, frozen=True):
    """A file with its new comments."""

    data: bytes
    silenced: int
    """How many findings they take."""
    left: tuple[tuple[Diagnostic, str], ...]
    """Findings that no comment can take, and why."""


def with_ignores(data: bytes, shown: str, findings: Sequence[Diagnostic], reason: str) -> Commented:
    """Add the comments that silence these findings of one file. Raises UnreadableSource when it must be left alone."""
    try:
        sources = sources_of(data, shown)
    except UnreadableSource:
        return Commented(data, 0, tuple((finding, _UNREAD) for finding in findings))
    left: list[tuple[Diagnostic, str]] = []
    for number, source in enumerate(sources):
        own = [finding for finding in findings if home_of(finding.location, sources) == number]
        commented = _in_source(data, source, functools.partial(_read, shown, number), own, reason)
        data = commented.data
        left += commented.left
    return Commented(data, len(findings) - len(left), tuple(left))


def _read(shown: str, number: int, data: bytes) -> Source:
    return sources_of(data, shown)[number]


def _in_source(
    data: bytes,
    source: Source,
    read_again: Callable[[bytes], Source],
    findings: Sequence[Diagnostic],
    reason: str,
) -> Commented:
    try:
        tree = parse_python(source)
    except UnreadableSource:
        return Commented(data, 0, tuple((finding, _UNREAD) for finding in findings))
    lines = _lines_for(findings, source)
    wanted = tuple(_insertions(source, findings, lines, reason))
    changed = edited(data, source, wanted)
    after = read_again(changed)
    lost = {each.line for each in wanted if each.text.strip() not in after.lines[each.line - 1]}
    if lost:  # magics of a notebook, which would take the comment for their own
        changed = edited(data, source, [each for each in wanted if each.line not in lost])
        after = read_again(changed)
    _require_same_code(tree, after)
    pairs = zip(findings, lines, strict=True)
    left = tuple((finding, _NO_LINE) for finding, line in pairs if line is None or line in lost)
    return Commented(changed, len(findings) - len(left), left)


def _lines_for(findings: Iterable[Diagnostic], source: Source) -> list[int | None]:
    """For each finding its own line, else the last of its statement, else any that may end in a comment."""
    writable = _writable(source)
    lines = []
    for finding in findings:
        first, last = finding.lines
        wanted = (source.joined_line(finding.location), last, *range(first, last))
        lines.append(next((line for line in wanted if first <= line <= last and line in writable), None))
    return lines


def _writable(source: Source) -> frozenset[int]:
    """The lines that may end in a comment: not those that end inside a string or in a backslash."""
    lines = set()
    open_strings = 0
    for token in tokenize.generate_tokens(io.StringIO(source.text, newline="\n").readline):
        if token.type in _OPENING:
            open_strings += 1
        elif token.type in _CLOSING:
            open_strings -= 1
        elif token.type in _LINE_ENDS and not open_strings:
            lines.add(token.start[0])
    return frozenset(lines)


def _insertions(
    source: Source, findings: Iterable[Diagnostic], lines: Iterable[int | None], reason: str
) -> Iterator[Replacement]:
    """A new comment at the end of each line, or more codes in one of ours that is there."""
    codes: dict[int, set[str]] = defaultdict(set)
    for finding, line in zip(findings, lines, strict=True):
        if line is not None:
            codes[line].add(finding.code)
    directives = {each.line: each for each in read_suppressions(source).directives if each.kind == "ignore"}
    for line, wanted in codes.items():
        selectors = ", ".join(sorted(wanted))
        if line in directives:
            yield insertion(line, directives[line].spans[-1].end_column, f", {selectors}")
        else:
            words = f"# torchlint: ignore[{selectors}]{reason and f' {reason}'}"
            yield insertion(line, LINE_END, f"  {words}" if source.lines[line - 1].strip() else words)


def _require_same_code(before: ast.Module, after: Source) -> None:
    """The last line of defence: a reason that is read as an encoding, say, must not change what Python reads."""
    if ast.dump(before) != ast.dump(parse_python(after)):
        raise UnreadableSource("comments would change what Python reads")
