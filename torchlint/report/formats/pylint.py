"""Lines as `pylint --output-format=parseable` writes them, which Jenkins and Sonar read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.diagnostics import Severity
from torchlint.report.paint import one_line

if TYPE_CHECKING:
    from torchlint.diagnostics import Report
    from torchlint.report.context import Context

# Jenkins takes the severity from the letter: https://pylint.readthedocs.io/en/stable/user_guide/messages/
_LETTERS = {Severity.ERROR: "E", Severity.WARNING: "W", Severity.INFO: "I"}


def lines(report: Report, context: Context) -> Iterator[str]:
    """Yield `path:line: [W0101(TL101), ] message`. The form has no column; after the comma Pylint names a function."""
    for found in report.diagnostics:
        place = context.sources.in_file(found.location)
        number = f"{_LETTERS[found.severity]}{int(found.code[-3:]):04}"
        yield f"{one_line(place.shown_line)}: [{number}({found.code}), ] {one_line(found.message)}"
