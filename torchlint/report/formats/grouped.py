"""Findings by file: its path once, and a line for each of its findings."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.report.alike import entries
from torchlint.report.closing import closing_lines
from torchlint.report.paint import Paint, one_line, statement

if TYPE_CHECKING:
    from torchlint.diagnostics import Diagnostic, Report
    from torchlint.report.context import Context


def lines(report: Report, context: Context) -> Iterator[str]:
    """Yield each file's path, its findings as `line:col  CODE severity: message`, an empty line; then closing lines."""
    paint = Paint(context.colour)
    for path, group in itertools.groupby(report.diagnostics, key=lambda diagnostic: diagnostic.location.path):
        found = [(_place(entry.finding, context), entry) for entry in entries(group, context)]
        width = max(len(place) for place, _ in found)
        yield paint.bold(one_line(path))
        for place, entry in found:
            yield f"  {place:<{width}}  {statement(entry.finding, paint)}{entry.also(context)}"
        yield ""
    yield from closing_lines(report, context.failing)


def _place(diagnostic: Diagnostic, context: Context) -> str:
    place = context.placed(diagnostic.location)
    return str(place).removeprefix(f"{place.path}:")
