"""The diagnostic format of reviewdog, as one object: `reviewdog -f=rdjson`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.diagnostics import Severity

if TYPE_CHECKING:
    from torchlint.diagnostics import Diagnostic, Location, Report
    from torchlint.report.context import Context

SOURCE = {"name": "torchlint"}
_SEVERITIES = {Severity.ERROR: "ERROR", Severity.WARNING: "WARNING", Severity.INFO: "INFO"}


def lines(report: Report, context: Context) -> Iterator[str]:
    """Yield the lines of the object."""
    found = [diagnostic_object(diagnostic, context) for diagnostic in report.diagnostics]
    yield from json.dumps({"source": SOURCE, "diagnostics": found}, indent=2).splitlines()


def diagnostic_object(diagnostic: Diagnostic, context: Context) -> dict[str, object]:
    """One `Diagnostic` of `reviewdog.proto`. Its columns count the bytes of UTF-8 from 1; the end is exclusive."""
    related = [
        {"message": _text(each.message), "location": _location(each.location, context)} for each in diagnostic.related
    ]
    edits = () if diagnostic.edits is None or diagnostic.location.cell is not None else diagnostic.edits.edits
    suggestions = [{"range": _location(edit.location, context)["range"], "text": _text(edit.content)} for edit in edits]
    return {
        "message": _text(diagnostic.message),
        "location": _location(diagnostic.location, context),
        "severity": _SEVERITIES[diagnostic.severity],
        "code": {"value": diagnostic.code},
        **({"related_locations": related} if related else {}),
        **({"suggestions": suggestions} if suggestions else {}),
    }


def _location(place: Location, context: Context) -> dict[str, object]:
    span = context.sources.in_bytes(context.sources.in_file(place))
    start = {"line": span.line, "column": span.column}
    end = {"line": span.end_line, "column": span.end_column}
    return {"path": _text(span.path), "range": {"start": start, "end": end}}


def _text(text: str) -> str:
    """Text that UTF-8 can hold: protobuf's JSON refuses half a surrogate pair, and with it the whole report."""
    return text.encode(errors="replace").decode()
