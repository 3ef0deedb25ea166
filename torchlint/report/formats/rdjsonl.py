"""The diagnostic format of reviewdog, one object a line: `reviewdog -f=rdjsonl`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.report.formats.rdjson import SOURCE, diagnostic_object

if TYPE_CHECKING:
    from torchlint.diagnostics import Report
    from torchlint.report.context import Context


def lines(report: Report, context: Context) -> Iterator[str]:
    """Yield an object a line."""
    for diagnostic in report.diagnostics:
        yield json.dumps({**diagnostic_object(diagnostic, context), "source": SOURCE})
