"""Every fixture reports exactly what its marks say, in every import style."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.harness.marks import differences
from tests.harness.programs import Program, all_programs, hits, hits_as_written, lint
from tests.harness.styles import STYLES, Rewritten, rewrite
from torchlint.catalogue import load_catalogue

PROGRAMS = all_programs()
BUILT = sorted(code for code, rule in load_catalogue().rules.items() if rule.status == "stable")
STYLED = [program for program in PROGRAMS if program.sources and program.options.get("styles") != "no"]
_ENGINE = ("TL001",)
"""Its fixtures are bytes that no mark can stand in: tests/robustness has them."""


def names(programs: Iterable[Program]) -> list[str]:
    return [program.name for program in programs]


@pytest.mark.parametrize("program", PROGRAMS, ids=names(PROGRAMS))
def test_a_fixture_reports_exactly_what_it_marks(program: Program) -> None:
    problems = differences(program.marks, hits_as_written(program))
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("program", PROGRAMS, ids=names(PROGRAMS))
def test_a_fixture_compiles(program: Program) -> None:
    for path, text in program.sources.items():
        compile(text, path, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("program", STYLED, ids=names(STYLED))
def test_the_import_style_changes_no_finding(program: Program, style: str, tmp_path: Path) -> None:
    rewritten = in_style(program, style)
    changed = program.with_sources({path: one.text for path, one in rewritten.items()})
    if changed.files == program.files:
        return  # written in this style already
    for path, text in changed.sources.items():
        compile(text, path, "exec")
    expected = [
        (*hit.place, rewritten[hit.path].column(hit.line, hit.column) if hit.path in rewritten else hit.column)
        for hit in hits_as_written(program)
    ]
    found = [(*hit.place, hit.column) for hit in hits(lint(changed, tmp_path), tmp_path)]
    assert sorted(found) == sorted(expected)


def in_style(program: Program, style: str) -> dict[str, Rewritten]:
    own = {part.removesuffix(".py") for path in program.files for part in path.split("/")}
    return {path: rewrite(text, STYLES[style], own) for path, text in program.sources.items()}


def test_the_styles_differ_from_what_is_written() -> None:
    for style in STYLES:
        changed = [p for p in STYLED if any(one.text != p.sources[path] for path, one in in_style(p, style).items())]
        assert len(changed) > len(STYLED) / 3, style


@pytest.mark.parametrize("code", [code for code in BUILT if code not in _ENGINE])
def test_a_rule_has_a_fixture_that_fires_and_one_that_is_silent(code: str) -> None:
    own = [program for program in PROGRAMS if program.name.startswith(f"{code}/")]
    assert any(mark.code == code and mark.kind == "expect" for program in own for mark in program.marks)
    assert any(not program.marks for program in own), "a near miss, in a file of its own"


OWN = [program for program in PROGRAMS if program.name.startswith("TL")]


@pytest.mark.parametrize("program", OWN, ids=names(OWN))
def test_a_fixture_marks_the_rule_of_its_folder_or_nothing(program: Program) -> None:
    assert program.name.partition("/")[0] in {mark.code for mark in program.marks} or not program.marks
