"""The default: one line a finding, or a file for those that say the same, as flake8 prints them, and closing lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.report.alike import entries
from torchlint.report.closing import closing_lines
from torchlint.report.paint import heading

if TYPE_CHECKING:
    from torchlint.diagnostics import Report
    from torchlint.report.context import Context


def lines(report: Report, context: Context) -> Iterator[str]:
    """Yield `path:line:col: CODE severity: message` for each finding, then an empty line and what would end them."""
    for entry in entries(report.diagnostics, context):
        yield heading(entry.finding, context) + entry.also(context)
    closing = tuple(closing_lines(report, context.failing))
    if closing and report.diagnostics:
        yield ""
    yield from closing
