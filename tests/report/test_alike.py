"""Findings of one file that say the same: one entry for people, every place for programs."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from tests.report.findings import make_finding, make_rule
from torchlint.diagnostics import Diagnostic, Location, Related, Report, Severity
from torchlint.report.context import Context
from torchlint.report.formats import format_names, render
from torchlint.report.statistics import statistics_lines

FOR_PEOPLE = ("full", "grouped", "text")


def attention(line: int, path: str = "vit.py", arguments: str = "q, k, v", **changes: Any) -> Diagnostic:  # noqa: ANN401 - any field
    message = f"`F.attend({arguments})`: its backward pass varies"
    return make_finding(path, line, message=message, source_line=f"    x = F.attend({arguments})", **changes)


def text(*found: Diagnostic, all_places: bool = False) -> list[str]:
    lines = list(render("text", Report(found), Context(all_places=all_places)))
    return [line.removeprefix("vit.py:") for line in lines[: lines.index("")]]


def test_what_says_the_same_of_one_file_is_one_line() -> None:
    assert text(attention(3), attention(9)) == [
        "3:5: TL101 warning: `F.attend(q, k, v)`: its backward pass varies (also line 9)"
    ]
    found = [attention(3), attention(9), attention(20, path="w.py"), attention(31), attention(32, path="w.py")]
    assert text(*found) == [
        "3:5: TL101 warning: `F.attend(q, k, v)`: its backward pass varies (also lines 9 and 31)",
        "w.py:20:5: TL101 warning: `F.attend(q, k, v)`: its backward pass varies (also line 32)",
    ]


def test_the_arguments_of_a_call_may_differ() -> None:
    assert text(attention(3), attention(9, arguments="q, k, torch.relu(v)")) == [
        "3:5: TL101 warning: `F.attend(...)`: its backward pass varies (also line 9)"
    ]


@pytest.mark.parametrize(
    "other",
    [
        attention(9, code="TL102"),
        attention(9, severity=Severity.INFO),
        attention(9, operators=("other",)),
        attention(9, verdict="REFUTED"),
        attention(9, advice="Do this."),
        attention(9, related=(Related(Location("a.py", None, 1, 1, 1, 2), "draws"),)),
        dataclasses.replace(attention(9), message="`G.attend(q, k, v)`: its backward pass varies"),
        dataclasses.replace(attention(9), message="`F.attend(q)(k, v)`: its backward pass varies"),
        dataclasses.replace(attention(9), message="`F.attend`: its backward pass varies"),
        dataclasses.replace(attention(9), message="`F.attend(q, k, v)`: its forward pass varies"),
    ],
)
def test_what_says_something_else_has_a_line_of_its_own(other: Diagnostic) -> None:
    lines = text(attention(3), other)
    assert len(lines) == 2
    assert "also" not in "".join(lines)


def test_many_places_are_counted() -> None:
    (line,) = text(*(attention(number) for number in range(1, 44)))
    assert line.endswith("(also lines 2, 3, 4, 5, 6 and 37 more)")


def test_the_place_of_the_same_in_another_cell() -> None:
    (line,) = text(attention(3, cell=2), attention(9, cell=2), attention(1, cell=7))
    assert (
        line
        == "cell 2:3:5: TL101 warning: `F.attend(q, k, v)`: its backward pass varies (also lines 9 and 1 of cell 7)"
    )


def test_every_place_on_request() -> None:
    assert len(text(attention(3), attention(9), all_places=True)) == 2


def test_all_places_count() -> None:
    report = Report((attention(3), attention(9)))
    for name in FOR_PEOPLE:
        assert list(render(name, report, Context()))[-1].startswith("2 findings")
    assert next(iter(statistics_lines(report, Context()))).startswith("2 TL101")


def test_the_explained_report_shows_each_place_with_its_code() -> None:
    related = [Related(Location("vit.py", None, line, 1, line, 2), "normalised here") for line in (4, 10)]
    found = (attention(3, related=(related[0],)), attention(9, arguments="a, b, c", related=(related[1],)))
    lines = list(render("full", Report(found), Context(load_rules=lambda: {"TL101": make_rule("TL101")})))
    assert lines[0] == "vit.py:3:5: TL101 warning: `F.attend(...)`: its backward pass varies"
    assert [line for line in lines if line.startswith("  also:")] == ["  also: vit.py:9:5: x = F.attend(a, b, c)"]
    assert [line for line in lines if line.startswith("  see:")] == [
        "  see:  vit.py:4:1: normalised here",
        "  see:  vit.py:10:1: normalised here",
    ]


def test_the_report_by_file_folds_as_well() -> None:
    assert list(render("grouped", Report((attention(3), attention(9))), Context()))[:2] == [
        "vit.py",
        "  3:5  TL101 warning: `F.attend(q, k, v)`: its backward pass varies (also line 9)",
    ]


@pytest.mark.parametrize("name", sorted(set(format_names()) - set(FOR_PEOPLE)))
def test_programs_are_told_every_place(name: str) -> None:
    """They annotate lines, and know a finding again by its place: `verify --from` does."""
    found = (attention(3), attention(9))
    output = "\n".join(render(name, Report(found, files=("vit.py",)), Context()))
    alone = ["\n".join(render(name, Report((each,), files=("vit.py",)), Context())) for each in found]
    assert output.count("its backward pass varies") == sum(each.count("its backward pass varies") for each in alone)
    if name == "json":
        assert [each["line"] for each in json.loads(output)] == [3, 9]
