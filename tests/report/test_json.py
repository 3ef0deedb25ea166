from __future__ import annotations

import dataclasses
import json
from typing import Any

import jsonschema

from tests.report.findings import make_finding, make_fix
from torchlint.diagnostics import Location, Related, Report
from torchlint.report.context import Context
from torchlint.report.formats import render
from torchlint.report.statistics import statistics_json_lines

POSITION = {"type": "integer", "minimum": 1}
CELL = {"type": ["integer", "null"], "minimum": 1}


def closed_object(**properties: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON schema
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


SCHEMA = {
    "type": "array",
    "items": closed_object(
        code={"type": "string", "pattern": r"^[A-Z]{2,5}\d{3}$"},
        name={"type": "string", "pattern": "^[a-z0-9-]+$"},
        severity={"enum": ["error", "warning", "info"]},
        confidence={"enum": ["high", "medium", "low"]},
        message={"type": "string", "minLength": 1},
        path={"type": "string", "minLength": 1},
        cell=CELL,
        line=POSITION,
        column=POSITION,
        end_line=POSITION,
        end_column=POSITION,
        url={"type": ["string", "null"], "format": "uri"},
        explained_by={"type": "string", "pattern": r"^torchlint rule [A-Z]{2,5}\d{3}$"},
        fix={"type": "null"},
        verdict={"type": ["string", "null"]},
        related={
            "type": "array",
            "items": closed_object(
                path={"type": "string"}, cell=CELL, line=POSITION, column=POSITION, message={"type": "string"}
            ),
        },
    ),
}


def read(report: Report) -> Any:  # noqa: ANN401 - parsed JSON
    return json.loads("\n".join(render("json", report, Context())))


def test_the_array_follows_the_schema() -> None:
    related = Related(Location("nb.ipynb", 2, 9, 1, 9, 2), "here")
    report = Report((make_finding(fix=make_fix()), make_finding("nb.ipynb", cell=3, related=(related,))))
    found = read(report)
    jsonschema.validate(found, SCHEMA)
    assert list(found[0]) == list(SCHEMA["items"]["properties"])  # type: ignore[index]
    assert (found[0]["cell"], found[0]["line"], found[0]["end_column"]) == (None, 3, 8)
    assert found[1]["cell"] == 3
    assert found[1]["related"] == [{"path": "nb.ipynb", "cell": 2, "line": 9, "column": 1, "message": "here"}]


def test_no_findings_are_an_empty_array() -> None:
    assert read(Report((), files=("a.py",))) == []


def test_any_output_encoding_carries_it() -> None:
    report = Report((make_finding("d\udcffir/é.py", message="中"),))
    assert "\n".join(render("json", report, Context())).isascii()
    assert read(report)[0]["message"] == "中"


def test_statistics() -> None:
    report = Report((make_finding(), make_finding(line=4), make_finding(code="TL001", name="unreadable-source")))
    assert json.loads("\n".join(statistics_json_lines(report))) == [
        {"code": "TL101", "name": "nondeterministic-operator", "count": 2},
        {"code": "TL001", "name": "unreadable-source", "count": 1},
    ]


def test_a_page_that_is_not_published_is_null_and_the_command_stands() -> None:
    (found,) = read(Report((dataclasses.replace(make_finding(), url=""),)))
    assert (found["url"], found["explained_by"]) == (None, "torchlint rule TL101")
    (found,) = read(Report((make_finding(),)))
    assert found["url"] == "https://example.org/TL101"
