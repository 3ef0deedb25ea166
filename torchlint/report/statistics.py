"""Findings counted by rule, the most frequent first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.report.cures import closing_line
from torchlint.report.json_array import json_array_lines
from torchlint.report.paint import Paint

if TYPE_CHECKING:
    from torchlint.diagnostics import Report, Severity


def statistics_lines(report: Report, *, colour: bool = False) -> Iterator[str]:
    """Yield `count CODE name` for each rule that found something, then an empty line and what would end them."""
    paint = Paint(colour)
    severities: dict[str, Severity] = {}
    for found in report.diagnostics:
        severities[found.code] = max(found.severity, severities.get(found.code, found.severity))
    counts = _counts(report)
    width = len(str(counts[0][2])) if counts else 0
    for code, name, count in counts:
        yield f"{count:>{width}} {paint.by_severity(code, severities[code])} {name}"
    closing = closing_line(report)
    if closing and counts:
        yield ""
    if closing:
        yield closing


def statistics_json_lines(report: Report) -> Iterator[str]:
    """Yield an array of `{code, name, count}` objects."""
    yield from json_array_lines([{"code": code, "name": name, "count": count} for code, name, count in _counts(report)])


def _counts(report: Report) -> list[tuple[str, str, int]]:
    counter = Counter((found.code, found.name) for found in report.diagnostics)
    rows = [(code, name, count) for (code, name), count in counter.items()]
    return sorted(rows, key=lambda row: (-row[2], row[0]))
