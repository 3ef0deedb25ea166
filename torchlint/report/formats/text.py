"""The default: one line a finding, as flake8 prints it, and closing lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.report.closing import closing_lines
from torchlint.report.paint import heading

if TYPE_CHECKING:
    from torchlint.diagnostics import Report
    from torchlint.report.context import Context


def lines(report: Report, context: Context) -> Iterator[str]:
    """Yield `path:line:col: CODE severity: message` for each finding, then an empty line and what would end them."""
    for diagnostic in report.diagnostics:
        yield heading(diagnostic, context)
    closing = tuple(closing_lines(report, context.failing))
    if closing and report.diagnostics:
        yield ""
    yield from closing
