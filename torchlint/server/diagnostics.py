"""Findings as the protocol's diagnostics."""

from __future__ import annotations

from collections.abc import Callable

from lsprotocol import types

from torchlint.diagnostics import Diagnostic, Location, Severity

SOURCE = "torchlint"
_SEVERITIES = {
    Severity.INFO: types.DiagnosticSeverity.Information,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.ERROR: types.DiagnosticSeverity.Error,
}
_TAGS = {
    "TL002": types.DiagnosticTag.Unnecessary,  # an ignore comment that silences nothing
    "TL305": types.DiagnosticTag.Unnecessary,  # an option that nothing reads
    "TL202": types.DiagnosticTag.Deprecated,  # a function that torch has removed
    "TL604": types.DiagnosticTag.Deprecated,  # AMP as torch spelled it before 2.4
}
"""Rules about code that is of no use, or out of date."""

Place = Callable[[Location], types.Location]


def as_diagnostic(finding: Diagnostic, place: Place) -> types.Diagnostic:
    """One finding."""
    tag = _TAGS.get(finding.code)
    return types.Diagnostic(
        range=place(finding.location).range,
        message=finding.message,
        severity=_SEVERITIES[finding.severity],
        code=finding.code,
        code_description=types.CodeDescription(finding.url) if finding.url else None,
        source=SOURCE,
        tags=[tag] if tag is not None else None,
        related_information=[
            types.DiagnosticRelatedInformation(place(one.location), one.message) for one in finding.related
        ]
        or None,
    )


def verdict_hint(finding: Diagnostic, place: Place) -> types.Diagnostic | None:
    """What an earlier `torchlint verify` said about it: a hint, since the finding says what to do."""
    if not finding.verdict:
        return None
    return types.Diagnostic(
        range=place(finding.location).range,
        message=f"{finding.code} was verified: {finding.verdict}",
        severity=types.DiagnosticSeverity.Hint,
        code=finding.code,
        source=SOURCE,
    )
