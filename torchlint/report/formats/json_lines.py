"""One JSON object a line and finding, for programs that read a stream; the objects are those of `json`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.report.formats.json import finding_object

if TYPE_CHECKING:
    from torchlint.diagnostics import Report
    from torchlint.report.context import Context


def lines(report: Report, _context: Context) -> Iterator[str]:
    """Yield an object a line; ASCII only, so that any output encoding carries it."""
    for diagnostic in report.diagnostics:
        yield json.dumps(finding_object(diagnostic))
