"""As compilers write: `path:line:col: warning: message [CODE]`, with `note` for info, for tools that know no linter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.diagnostics import Severity
from torchlint.report.paint import one_line

if TYPE_CHECKING:
    from torchlint.diagnostics import Report
    from torchlint.report.context import Context

_WORDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def lines(report: Report, context: Context) -> Iterator[str]:
    """Yield a line for each finding. Its readers do not agree on what a column is; code points, as in `text`."""
    for found in report.diagnostics:
        place = context.sources.in_file(found.location)
        yield f"{one_line(str(place))}: {_WORDS[found.severity]}: {one_line(found.message)} [{found.code}]"
