"""The report for machines: an array with one object a finding."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from torchlint.diagnostics import Diagnostic, Related, Report


class RelatedObject(TypedDict):
    """Another place that explains a finding."""

    path: str
    cell: int | None
    line: int
    column: int
    message: str


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
    fix: None
    verdict: str | None
    """What an earlier `verify` said about it."""
    related: list[RelatedObject]


def json_lines(report: Report) -> Iterator[str]:
    """Yield the lines of the array; ASCII only, so that any output encoding carries it."""
    yield from json_array_lines([_finding(diagnostic) for diagnostic in report.diagnostics])


def json_array_lines(items: list[FindingObject] | list[dict[str, object]]) -> Iterator[str]:
    """Yield an array of objects, each on lines of its own."""
    yield from json.dumps(items, indent=2).splitlines()


def _finding(diagnostic: Diagnostic) -> FindingObject:
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
        "fix": None,
        "verdict": diagnostic.verdict or None,
        "related": [_related(related) for related in diagnostic.related],
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
