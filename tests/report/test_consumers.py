"""The patterns with which editors and services read lines, as those have them, and those that the guide gives."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.report.tool_reports import NOTEBOOK, ODD, PLAIN, REPORT, rendered

GUIDE = (Path(__file__).parents[2] / "docs" / "usage.md").read_text(encoding="utf-8")
PLACES = [(NOTEBOOK, 21, 20), (ODD, 2, 1), (PLAIN, 1, 14), (PLAIN, 2, 1)]
"""Of each finding, in the file that an editor opens."""
SEVERITIES = ["warning", "info", "error", "warning"]


def guide_block(mark: str) -> str:
    """The fenced block under a mark."""
    found = re.search(rf"<!-- {mark} -->\n```\w+\n(.*?)```", GUIDE, re.DOTALL)
    assert found is not None
    return found[1]


def errorformat(pattern: str) -> re.Pattern[str]:
    """Vim's and reviewdog's `errorformat` as a regular expression: the items that are used here."""
    items = {
        "%f": "(?P<file>.+?)",
        "%l": r"(?P<line>\d+)",
        "%c": r"(?P<column>\d+)",
        "%m": "(?P<message>.+)",
        "%n": r"(?P<number>\d+)",
        "%t": "(?P<type>.)",
        "%*[a-z]": "[a-z]+",
    }
    parts = re.split(r"(%\*\[a-z\]|%[a-z])", pattern)
    return re.compile("".join(items.get(part, re.escape(part)) for part in parts))


def read(pattern: re.Pattern[str], text: str) -> list[dict[str, str]]:
    return [found.groupdict() for line in text.split("\n") if (found := pattern.fullmatch(line))]


def places(found: list[dict[str, str]]) -> list[tuple[str, int, int]]:
    return [(each["file"], int(each["line"]), int(each["column"])) for each in found]


def numbered(pattern: dict[str, Any]) -> re.Pattern[str]:
    """A problem matcher's pattern, with its numbered groups named."""
    groups = {number: name for name, number in pattern.items() if name != "regexp"}
    count = 0

    def name(_: re.Match[str]) -> str:
        nonlocal count
        count += 1
        return f"(?P<{groups[count]}>"

    return re.compile(re.sub(r"(?<!\\)\((?!\?)", name, pattern["regexp"]))


def test_the_problem_matcher_of_the_guide_reads_every_finding() -> None:
    (task,) = json.loads(guide_block("problem matcher"))["tasks"]
    assert "--all-places --notebook-lines file" in task["command"]
    found = read(numbered(task["problemMatcher"]["pattern"]), rendered("text", notebook_lines="file"))
    assert places(found) == PLACES
    assert [each["severity"] for each in found] == SEVERITIES
    assert [each["code"] for each in found] == [finding.code for finding in REPORT.diagnostics]


def test_the_errorformats_of_the_guide_read_every_finding() -> None:
    lines = guide_block("errorformat").splitlines()
    text = rendered("text", notebook_lines="file")
    for line in lines:
        options = re.split(r"(?<!\\) ", line)
        command, pattern = (option.partition("=")[2].replace("\\ ", " ") for option in options[1:])
        assert command == "torchlint check --all-places --notebook-lines file"
        found = read(errorformat(pattern.removesuffix(",%-G%.%#")), text)
        assert places(found) == PLACES
    assert [each["type"] for each in found] == [word[0] for word in SEVERITIES]
    assert [each["number"] for each in found] == ["401", "101", "101", "101"]


def test_the_reviewdog_calls_of_the_guide_read_every_finding() -> None:
    (pattern,) = re.findall(r'reviewdog -efm="(.*)"', GUIDE)
    assert places(read(errorformat(pattern), rendered("text", notebook_lines="file"))) == PLACES
    assert "`-f=pep8` is that pattern" in GUIDE
    assert pattern == "%f:%l:%c: %m"  # https://github.com/reviewdog/errorformat, fmts/python.go, `pep8`


def test_flake8_s_own_pattern_takes_none_as_the_guide_says() -> None:
    assert "`-f=flake8` matches no line" in GUIDE
    assert read(errorformat("%f:%l:%c: %t%n %m"), rendered("text")) == []  # fmts/python.go, `flake8`


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?P<file>.*?):(?P<line>\d+):(?P<column>\d*):?\s+(?:fatal\s+)?(?P<severity>warning|error):\s+(?P<message>.*)",
        r"(?P<file>.*):(?P<line>\d+):(?P<column>\d+):\s+(?:fatal\s+)?(?P<severity>warning|error):\s+(?P<message>.*)",
    ],
    ids=["vscode-cpptools $gcc", "gh-problem-matcher-wrap gcc"],
)
def test_matchers_for_compilers_read_gcc(pattern: str) -> None:
    found = read(re.compile(pattern), rendered("gcc"))
    assert places(found) == [place for place, word in zip(PLACES, SEVERITIES, strict=True) if word != "info"]
    assert [each["severity"] for each in found] == [word for word in SEVERITIES if word != "info"]
    assert found[0]["message"] == "`index_add_` varies on CUDA [TL401]"


def test_gcc_s_notes_are_read_where_notes_are() -> None:
    note = re.compile(r"(?P<file>.+):(?P<line>\d+):(?P<column>\d+): note: (?P<message>.*)")
    assert places(read(note, rendered("gcc"))) == [(ODD, 2, 1)]


JENKINS = re.compile(
    r"(?P<path>(?:[A-Z]:\\)?[^:]*)(?:\:(?P<module>.*))?:(?P<line>\d+): "
    r"\[(?P<type>(?P<category>[A-Z])\d*)?(?:\((?P<symbol>.*)\), )?.*?\] (?P<message>.*)"
)
"""`PyLintParser` of jenkinsci/analysis-model."""
SONAR = re.compile(r"(?P<file>.+):(?P<line>\d+): \[(?P<rule>.*)\] (?P<message>.*)")
"""`PylintReportReader` of SonarSource/sonar-python."""


def test_jenkins_and_sonar_read_pylint() -> None:
    text = rendered("pylint")
    jenkins = [found for line in text.split("\n") if (found := JENKINS.fullmatch(line))]
    assert [(each["category"], each["symbol"], int(each["line"])) for each in jenkins] == [
        ("W", "TL401", 21),
        ("I", "TL101", 2),
        ("E", "TL101", 1),
        ("W", "TL101", 2),
    ]
    sonar = read(SONAR, text)
    assert [(each["file"], int(each["line"])) for each in sonar] == [(path, line) for path, line, _ in PLACES]
    assert [each["rule"].split("(")[0] for each in sonar] == ["W0401", "I0101", "E0101", "W0101"]


def test_the_ways_to_tell_a_notebook_s_lines() -> None:
    first = {name: rendered("text", notebook_lines=name).split("\n")[0] for name in ("cell", "file", "code")}
    assert {name: line.split(" TL")[0] for name, line in first.items()} == {
        "cell": "nb.ipynb:cell 3:2:11:",
        "file": "nb.ipynb:21:20:",
        "code": "nb.ipynb:5:11:",
    }
    assert "  21:20  TL401" in rendered("grouped", notebook_lines="file")
    full = rendered("full", notebook_lines="file")
    assert "nb.ipynb:21:20: TL401" in full
    assert "\n  21 |" in full
