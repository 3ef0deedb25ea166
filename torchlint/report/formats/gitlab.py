"""GitLab's Code Quality report: a JSON array, for `artifacts: reports: codequality:`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.diagnostics import Severity
from torchlint.fingerprints import fingerprints

if TYPE_CHECKING:
    from torchlint.diagnostics import Diagnostic, Report
    from torchlint.report.context import Context

# GitLab knows info, minor, major, critical and blocker.
_SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "major", Severity.INFO: "info"}


def lines(report: Report, context: Context) -> Iterator[str]:
    """Yield the array. GitLab drops an entry whose fingerprint another has, and shows the line alone."""
    names = fingerprints(report.diagnostics)
    entries = [_entry(found, name, context) for found, name in zip(report.diagnostics, names, strict=True)]
    yield from json.dumps(entries, indent=2).splitlines()


def _entry(diagnostic: Diagnostic, fingerprint: str, context: Context) -> dict[str, object]:
    place = context.sources.in_file(diagnostic.location)
    return {
        "type": "issue",
        "check_name": diagnostic.code,
        "description": f"{diagnostic.code} {diagnostic.message}",
        "fingerprint": fingerprint,
        "severity": _SEVERITIES[diagnostic.severity],
        "location": {
            "path": place.path,
            "positions": {
                "begin": {"line": place.line, "column": place.column},
                "end": {"line": place.end_line, "column": place.end_column},
            },
        },
    }
