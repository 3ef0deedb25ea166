"""The default report: one line a finding, as flake8 prints it, and a closing line of cures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.report.cures import closing_line
from torchlint.report.paint import Paint, heading

if TYPE_CHECKING:
    from torchlint.diagnostics import Report


def text_lines(report: Report, *, colour: bool = False) -> Iterator[str]:
    """Yield `path:line:col: CODE message` for each finding, then an empty line and what would end them."""
    paint = Paint(colour)
    for diagnostic in report.diagnostics:
        yield heading(diagnostic, paint)
    closing = closing_line(report)
    if closing and report.diagnostics:
        yield ""
    if closing:
        yield closing
