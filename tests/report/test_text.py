"""The reports for people."""

from __future__ import annotations

import re
from pathlib import Path

from tests.harness.programs import fixture, lint
from tests.report.findings import make_finding, make_fix, make_rule
from torchlint.diagnostics import Confidence, Diagnostic, Location, Related, Report, Severity, Skipped
from torchlint.report.context import Context
from torchlint.report.formats import render
from torchlint.report.statistics import statistics_lines

REPORT = Report(
    (
        make_finding("src/a.py", 3, 5, fix=make_fix()),
        make_finding("src/nb.ipynb", 2, 1, cell=3, code="TL401", fix=make_fix()),
        make_finding("src/with: colon.py", 10, 1, message="uses `a:1:2: b`; see train.py:14", fix=make_fix()),
    ),
    files=("src/a.py",),
)


def text_lines(report: Report) -> list[str]:
    return list(render("text", report, Context()))


def full_lines(finding: Diagnostic, why: str = "") -> list[str]:
    rule = make_rule(finding.code, why=why)
    return list(render("full", Report((finding,)), Context(load_rules=lambda: {finding.code: rule})))


def test_one_line_a_finding_then_the_fixes() -> None:
    assert text_lines(REPORT) == [
        "src/a.py:3:5: TL101 warning: `index_add_` varies on CUDA",
        "src/nb.ipynb:cell 3:2:1: TL401 warning: `index_add_` varies on CUDA",
        "src/with: colon.py:10:1: TL101 warning: uses `a:1:2: b`; see train.py:14",
        "",
        "3 findings, 1 fix: turn the mode on in train.py:14 (fixes 3)",
    ]


def test_a_place_in_a_message_has_its_cell(tmp_path: Path) -> None:
    report = lint(fixture("TL301/unseeded_notebook.ipynb"), tmp_path)
    messages = [found.message for found in report.diagnostics if found.code == "TL301"]
    assert [bool(re.search(r"unseeded_notebook\.ipynb:cell \d+:\d+$", message)) for message in messages] == [True]


def test_control_characters_cannot_break_a_line_or_a_terminal() -> None:
    report = Report((make_finding("a\nb.py", message="x\r\n\x1b[31my\u202ez"),))
    assert text_lines(report)[0] == r"a\nb.py:3:5: TL101 warning: x\r\n\x1b[31my\u202ez"


def test_a_clean_run_is_one_line() -> None:
    assert text_lines(Report((), files=("a.py", "b.py"))) == ["No findings in 2 files."]


def test_colour_only_adds_escapes() -> None:
    plain = text_lines(REPORT)
    coloured = list(render("text", REPORT, Context(colour=True)))
    assert coloured != plain
    assert [re.sub(r"\x1b\[[\d;]*m", "", line) for line in coloured] == plain


def test_full_shows_the_source_the_why_and_the_way_out() -> None:
    related = Related(Location("lib.py", None, 9, 1, 9, 2), "turned on here")
    finding = make_finding(column=7, end=(3, 17), fix=make_fix(), related=(related,))
    lines = full_lines(finding, why="Atomic adds come in any\norder. So sums differ. This is known.")
    assert lines == [
        "train.py:3:7: TL101 warning: `index_add_` varies on CUDA",
        "  high confidence · nondeterministic-operator",
        "    |",
        "  3 |     x.index_add_(0, i, v)",
        "    |       ^^^^^^^^^^",
        "  why:  Atomic adds come in any order. So sums differ.",
        "  do:   Turn the mode on.",
        "  fix:  turn the mode on in train.py:14",
        "  see:  lib.py:9:1: turned on here",
        "  https://example.org/TL101  or offline: torchlint rule TL101",
        "",
        "1 finding, 1 fix: turn the mode on in train.py:14",
    ]


def test_full_offers_no_fix_that_would_make_the_line_raise() -> None:
    lines = full_lines(make_finding(fix=make_fix(raises=True)))
    assert not [line for line in lines if line.startswith("  fix:")]
    assert lines[-1] == "1 finding, 1 fix: turn the mode on in train.py:14 (1 line will raise)"


def test_full_wraps_running_text_between_words() -> None:
    lines = full_lines(make_finding(), why="word " * 40)
    (start,) = [number for number, line in enumerate(lines) if line.startswith("  why:  word")]
    assert max(map(len, lines[start : start + 3])) <= 100
    assert lines[start + 1].startswith("        word")


def test_full_without_source_line_or_reason() -> None:
    finding = make_finding(source_line="", severity=Severity.ERROR, confidence=Confidence.LOW)
    lines = full_lines(finding)
    assert lines[:3] == [
        "train.py:3:5: TL101 error: `index_add_` varies on CUDA",
        "  low confidence · nondeterministic-operator",
        "  do:   Turn the mode on.",
    ]


def test_a_span_over_several_lines_is_marked_to_the_end_of_its_first() -> None:
    lines = full_lines(make_finding(column=5, end=(5, 2)))
    assert lines[4] == "    |     " + "^" * len("x.index_add_(0, i, v)")


def test_statistics_count_by_rule() -> None:
    report = Report((*(make_finding(line=n) for n in range(10)), make_finding(code="TL001", name="unreadable")))
    assert list(statistics_lines(report, Context())) == [
        "10 TL101 nondeterministic-operator",
        " 1 TL001 unreadable",
        "",
        "11 findings.",
    ]


def test_the_closing_line_says_what_fails_the_run() -> None:
    kinds = (Severity.ERROR, Severity.WARNING, Severity.WARNING, Severity.INFO)
    report = Report(tuple(make_finding(line=line, severity=severity) for line, severity in enumerate(kinds, 1)))
    closing = {failing: list(render("text", report, Context(failing=failing)))[-1] for failing in range(5)}
    assert closing == {
        0: "4 findings (1 error, 2 warnings, 1 info; none fails the run).",
        1: "4 findings (1 error fails the run; 2 warnings, 1 info do not).",
        2: "4 findings (1 error, 2 warnings, 1 info; 2 fail the run).",
        3: "4 findings (1 error, 2 warnings fail the run; 1 info does not).",
        4: "4 findings (1 error, 2 warnings, 1 info; all fail the run).",
    }
    one = Report((make_finding(),))
    assert list(render("text", one, Context(failing=1)))[-1] == "1 finding (1 warning; fails the run)."


def test_skipped_files_are_named_with_the_reason() -> None:
    skipped = (Skipped("line 1 needs Python 3.14", "a.py"), Skipped("magic", "nb.ipynb", 3))
    assert text_lines(Report((), notes=skipped, files=("b.py", "nb.ipynb"))) == [
        "2 files checked, 1 file and 1 cell skipped: a.py (line 1 needs Python 3.14) · nb.ipynb cell 3 (magic)",
        "No findings in 2 files.",
    ]
    many = tuple(Skipped("too large", f"{name}.py") for name in "abcde")
    assert text_lines(Report((), notes=many)) == [
        "0 files checked, 5 skipped: a.py (too large) · b.py (too large) · c.py (too large) · 2 more"
    ]


def test_grouped_says_each_path_once() -> None:
    report = Report((make_finding("a.py", 3, 5), make_finding("a.py", 10, 12), make_finding("nb.ipynb", 2, 1, cell=3)))
    assert list(render("grouped", report, Context(all_places=True))) == [
        "a.py",
        "  3:5    TL101 warning: `index_add_` varies on CUDA",
        "  10:12  TL101 warning: `index_add_` varies on CUDA",
        "",
        "nb.ipynb",
        "  cell 3:2:1  TL101 warning: `index_add_` varies on CUDA",
        "",
        "3 findings.",
    ]


def test_the_verdict_of_verify_is_short_and_whole_in_full() -> None:
    finding = make_finding(verdict="NOT REPRODUCED on NVIDIA H200, torch 2.13.0, 2026-11-22")
    assert text_lines(Report((finding,)))[0].endswith("varies on CUDA [NOT REPRODUCED]")
    assert "  verify: NOT REPRODUCED on NVIDIA H200, torch 2.13.0, 2026-11-22" in full_lines(finding)
