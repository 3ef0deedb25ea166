"""Findings counted by rule, the most frequent first."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.report.closing import closing_lines
from torchlint.report.paint import Paint

if TYPE_CHECKING:
    from torchlint.diagnostics import Report, Severity
    from torchlint.report.context import Context


def statistics_lines(report: Report, context: Context) -> Iterator[str]:
    """Yield `count CODE name` for each rule that found something, then an empty line and what would end them."""
    paint = Paint(context.colour)
    severities: dict[str, Severity] = {}
    for found in report.diagnostics:
        severities[found.code] = max(found.severity, severities.get(found.code, found.severity))
    counts = _counts(report)
    width = len(str(counts[0][2])) if counts else 0
    for code, name, count in counts:
        yield f"{count:>{width}} {paint.by_severity(code, severities[code])} {name}"
    closing = tuple(closing_lines(report, context.failing))
    if closing and counts:
        yield ""
    yield from closing


def statistics_json_lines(report: Report) -> Iterator[str]:
    """Yield an array of `{code, name, count}` objects."""
    counts = [{"code": code, "name": name, "count": count} for code, name, count in _counts(report)]
    yield from json.dumps(counts, indent=2).splitlines()


def _counts(report: Report) -> list[tuple[str, str, int]]:
    counter = Counter((found.code, found.name) for found in report.diagnostics)
    rows = [(code, name, count) for (code, name), count in counter.items()]
    return sorted(rows, key=lambda row: (-row[2], row[0]))
