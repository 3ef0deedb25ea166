"""The report for machines: an array with one object a finding."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from torchlint.diagnostics import Diagnostic, Edit, FixEdits, Related, Report
    from torchlint.report.context import Context


class RelatedObject(TypedDict):
    """Another place that explains a finding."""

    path: str
    cell: int | None
    line: int
    column: int
    message: str


class PositionObject(TypedDict):
    """A place in a file, or in a cell of a notebook; both count from 1."""

    line: int
    column: int


class EditObject(TypedDict):
    """Text in the place of a span; the end is exclusive, and an empty span is an insertion."""

    cell: int | None
    location: PositionObject
    end_location: PositionObject
    content: str


class FixObject(TypedDict):
    """An automatic fix."""

    safety: str
    """`safe` or `unsafe`."""
    message: str
    edits: list[EditObject]


class FindingObject(TypedDict):
    """One finding. In a notebook `line` counts inside the cell, and `cell` is its index among all cells, from 1."""

    code: str
    name: str
    severity: str
    confidence: str
    message: str
    path: str
    cell: int | None
    line: int
    column: int
    end_line: int
    end_column: int
    url: str | None
    """The published page of the rule; None while there is none."""
    explained_by: str
    """The command that explains the rule."""
    fix: FixObject | None
    """Its automatic fix."""
    verdict: str | None
    """What an earlier `verify` said about it."""
    related: list[RelatedObject]


def lines(report: Report, _context: Context) -> Iterator[str]:
    """Yield the lines of the array; ASCII only, so that any output encoding carries it."""
    found = [finding_object(diagnostic) for diagnostic in report.diagnostics]
    yield from json.dumps(found, indent=2).splitlines()


def finding_object(diagnostic: Diagnostic) -> FindingObject:
    """A finding as an object, for every format that is JSON of torchlint's own."""
    place = diagnostic.location
    return {
        "code": diagnostic.code,
        "name": diagnostic.name,
        "severity": diagnostic.severity.label,
        "confidence": diagnostic.confidence.label,
        "message": diagnostic.message,
        "path": _slashes(place.path),
        "cell": place.cell,
        "line": place.line,
        "column": place.column,
        "end_line": place.end_line,
        "end_column": place.end_column,
        "url": diagnostic.url or None,
        "explained_by": diagnostic.explained_by,
        "fix": None if diagnostic.edits is None else _fix(diagnostic.edits),
        "verdict": diagnostic.verdict or None,
        "related": [_related(related) for related in diagnostic.related],
    }


def _fix(fix: FixEdits) -> FixObject:
    return {"safety": fix.safety, "message": fix.message, "edits": [_edit(edit) for edit in fix.edits]}


def _edit(edit: Edit) -> EditObject:
    place = edit.location
    return {
        "cell": place.cell,
        "location": {"line": place.line, "column": place.column},
        "end_location": {"line": place.end_line, "column": place.end_column},
        "content": edit.content,
    }


def _related(related: Related) -> RelatedObject:
    place = related.location
    return {
        "path": _slashes(place.path),
        "cell": place.cell,
        "line": place.line,
        "column": place.column,
        "message": related.message,
    }


def _slashes(path: str) -> str:
    return path if os.sep == "/" else path.replace(os.sep, "/")
