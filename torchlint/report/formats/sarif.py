"""SARIF 2.1.0, the exchange format of code scanning: GitHub, Azure DevOps and editors read it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from torchlint import __version__
from torchlint.diagnostics import Severity
from torchlint.fingerprints import fingerprints

if TYPE_CHECKING:
    from torchlint.catalogue import Rule
    from torchlint.diagnostics import Diagnostic, InternalError, Location, Report, Skipped
    from torchlint.report.context import Context

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_FINGERPRINT = "torchlint/v1"
_BASE = "SRCROOT"
"""The folder that relative paths count from: the one that torchlint ran in."""
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}

Object = dict[str, object]


def lines(report: Report, context: Context) -> Iterator[str]:
    """Yield the lines of a log with one run."""
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [_run(report, context)]}
    yield from json.dumps(log, indent=2).splitlines()


def _run(report: Report, context: Context) -> Object:
    codes = sorted({diagnostic.code for diagnostic in report.diagnostics})
    indices = {code: index for index, code in enumerate(codes)}
    names = fingerprints(report.diagnostics)
    return {
        "tool": {
            "driver": {
                "name": "torchlint",
                "version": __version__,
                "rules": [_rule(code, context.rules.get(code)) for code in codes],
            }
        },
        "invocations": [_invocation(report)],
        "originalUriBaseIds": {_BASE: {"description": {"text": "The folder that torchlint ran in."}}},
        "columnKind": "unicodeCodePoints",
        "results": [
            _result(found, indices[found.code], name, context)
            for found, name in zip(report.diagnostics, names, strict=True)
        ],
    }


def _rule(code: str, rule: Rule | None) -> Object:
    if rule is None:
        return {"id": code}
    why = " ".join(rule.why.split())
    return {
        "id": code,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": why},
        "help": {
            "text": f"{why}\n\n`torchlint rule {code}` says more.",
            "markdown": f"{why}\n\n{_code(rule.bad)}\nInstead:\n\n{_code(rule.good)}",
        },
        "defaultConfiguration": {"level": _LEVELS[Severity[rule.severity.upper()]]},
    }


def _code(text: str) -> str:
    return f"```python\n{text.strip()}\n```\n"


def _result(diagnostic: Diagnostic, index: int, fingerprint: str, context: Context) -> Object:
    related = [
        {"id": number, "message": {"text": each.message}, **_location(each.location, context)}
        for number, each in enumerate(diagnostic.related, 1)
    ]
    advice = f"\n{diagnostic.advice}" if diagnostic.advice else ""
    return {
        "ruleId": diagnostic.code,
        "ruleIndex": index,
        "level": _LEVELS[diagnostic.severity],
        "message": {"text": diagnostic.message + advice},
        "locations": [_location(diagnostic.location, context)],
        **({"relatedLocations": related} if related else {}),
        **_fixes(diagnostic, context),
        "partialFingerprints": {_FINGERPRINT: fingerprint},
        "properties": {"confidence": diagnostic.confidence.label},
    }


def _fixes(diagnostic: Diagnostic, context: Context) -> Object:
    """Its automatic fix, if that is safe; none in notebooks, whose regions are of the JSON."""
    fix = diagnostic.edits
    if fix is None or not fix.is_safe or diagnostic.location.cell is not None:
        return {}
    replacements = [
        {"deletedRegion": _region(edit.location, context), "insertedContent": {"text": edit.content}}
        for edit in fix.edits
    ]
    change = {"artifactLocation": _artifact(diagnostic.location.path), "replacements": replacements}
    return {"fixes": [{"description": {"text": fix.message}, "artifactChanges": [change]}]}


def _location(place: Location, context: Context) -> Object:
    region = _region(place, context)
    return {"physicalLocation": {"artifactLocation": _artifact(place.path), "region": region}}


def _region(place: Location, context: Context) -> Object:
    span = context.sources.in_file(place)
    return {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }


def _artifact(path: str) -> Object:
    """A relative reference below the base, or a URI for what lies elsewhere; `..` is not allowed in a reference."""
    if Path(path).is_absolute():
        return {"uri": Path(path).as_uri()}
    return {"uri": quote(path, errors="surrogateescape"), "uriBaseId": _BASE}


def _invocation(report: Report) -> Object:
    notifications = [
        *(_skipped(each) for each in report.skipped),
        *(_broken(each) for each in report.internal_errors),
    ]
    wrong = [{"level": "error", "message": {"text": error}} for error in report.errors]
    return {
        "executionSuccessful": not report.internal_errors and not report.errors,
        **({"toolConfigurationNotifications": wrong} if wrong else {}),
        **({"toolExecutionNotifications": notifications} if notifications else {}),
    }


def _skipped(skipped: Skipped) -> Object:
    return _notification("warning", str(skipped), skipped.path or "")


def _broken(error: InternalError) -> Object:
    return _notification("error", f"internal error: check `{error.check}` broke: {error.message}", error.path)


def _notification(level: str, message: str, path: str) -> Object:
    place: Mapping[str, object] = {"physicalLocation": {"artifactLocation": _artifact(path)}}
    return {"level": level, "message": {"text": message}, "locations": [place]}
