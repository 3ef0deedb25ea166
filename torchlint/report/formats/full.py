"""The explained report: the source line with a caret, why it matters, what to do, related places and where to read."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.report.alike import Entry, entries
from torchlint.report.closing import closing_lines
from torchlint.report.paint import Paint, heading, one_line
from torchlint.report.snippet import make_snippet

if TYPE_CHECKING:
    from torchlint.diagnostics import Diagnostic, FixEdits, Report
    from torchlint.report.context import Context

_WIDTH = 100
"""Columns of running text: terminals break longer lines inside words."""
_MOST_CHANGED = 12
"""Lines of a fix that are shown; a rename may change many."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`])")


def lines(report: Report, context: Context) -> Iterator[str]:
    """Yield a block for each finding and closing lines."""
    for entry in entries(report.diagnostics, context):
        yield from _block(entry, context)
        yield ""
    yield from closing_lines(report, context.failing, knows_fixes=True)


def _block(entry: Entry, context: Context) -> Iterator[str]:
    paint = Paint(context.colour)
    diagnostic = entry.finding
    rule = context.rules.get(diagnostic.code)
    yield heading(diagnostic, context)
    yield f"  {diagnostic.confidence.label} confidence · {diagnostic.name}"
    yield from _source(diagnostic, context)
    for other in entry.others:
        yield f"  also: {one_line(str(context.placed(other.location)))}: {one_line(other.source_line.strip())}"
    if rule and rule.why:
        yield from _wrapped("why:", opening(rule.why))
    if diagnostic.advice:
        yield from _wrapped("do:", one_line(diagnostic.advice))
    if diagnostic.fix and not diagnostic.fix.raises:  # that fix ends other findings; here the advice holds
        yield f"  fix:  {one_line(diagnostic.fix.one)}"
    if diagnostic.edits is not None:
        yield from _diff(diagnostic.edits, paint)
    if diagnostic.verdict:
        yield f"  verify: {one_line(diagnostic.verdict)}"
    for related in (related for each in (diagnostic, *entry.others) for related in each.related):
        yield f"  see:  {one_line(str(context.placed(related.location)))}: {one_line(related.message)}"
    page = f"{diagnostic.url}  or offline: " if diagnostic.url else ""
    yield paint.faint(f"  {page}{diagnostic.explained_by}")


def _diff(edits: FixEdits, paint: Paint) -> Iterator[str]:
    """The lines that `--fix` would change, and with which option it would."""
    option = "--fix" if edits.is_safe else "--fix --unsafe-fixes"
    yield f"  {option}:"
    shown = edits.preview[:_MOST_CHANGED]
    for line in shown:
        yield f"    {line[:1]} {make_snippet(line[1:], 1, None).line}"
    if len(edits.preview) > len(shown):
        yield paint.faint(f"    and {len(edits.preview) - len(shown)} more lines (--diff shows all)")


def _source(diagnostic: Diagnostic, context: Context) -> Iterator[str]:
    if not diagnostic.source_line.strip():
        return
    paint = Paint(context.colour)
    place = diagnostic.location
    snippet = make_snippet(
        diagnostic.source_line, place.column, place.end_column if place.end_line == place.line else None
    )
    number = str(context.placed(place).line)
    blank = " " * len(number)
    yield paint.faint(f"  {blank} |")
    yield f"  {paint.faint(f'{number} |')} {snippet.line}"
    yield f"  {paint.faint(f'{blank} |')} {paint.by_severity(snippet.marks, diagnostic.severity)}"


def _wrapped(label: str, text: str) -> Iterator[str]:
    yield from textwrap.wrap(
        text,
        width=_WIDTH,
        initial_indent=f"  {label:<6}",
        subsequent_indent=" " * 8,
        break_long_words=False,
        break_on_hyphens=False,
    )


def opening(text: str) -> str:
    """The first two sentences of a text, on one line: what happens, and why that varies."""
    return " ".join(_SENTENCE_END.split(" ".join(text.split()))[:2])
