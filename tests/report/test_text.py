"""The text report, and the editors and tools that read it."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.harness.programs import FIXTURES, check
from tests.report.findings import make_cure, make_finding
from torchlint.diagnostics import Confidence, Location, Related, Report, Severity
from torchlint.report import full_lines, statistics_lines, text_lines

REPORT = Report(
    (
        make_finding("src/a.py", 3, 5, cure=make_cure()),
        make_finding("src/nb.ipynb", 2, 1, cell=3, code="TL401", cure=make_cure()),
        make_finding("src/with: colon.py", 10, 1, message="uses `a:1:2: b`; see train.py:14", cure=make_cure()),
    ),
    files=("src/a.py",),
)

# flake8's default format, as %f:%l:%c: %m in Vim's and reviewdog's errorformat read it
VIM = re.compile(r"(?P<file>.+?):(?P<line>\d+):(?P<column>\d+): (?P<message>.+)")
REVIEWDOG_FLAKE8 = re.compile(r"(?P<file>.*?):(?P<line>\d+):(?P<column>\d+):? (?P<code>[A-Z]{1,3}\d+) (?P<message>.*)")


def test_one_line_a_finding_then_the_cures() -> None:
    assert list(text_lines(REPORT)) == [
        "src/a.py:3:5: TL101 `index_add_` varies on CUDA",
        "src/nb.ipynb:cell 3:2:1: TL401 `index_add_` varies on CUDA",
        "src/with: colon.py:10:1: TL101 uses `a:1:2: b`; see train.py:14",
        "",
        "3 findings, 1 cure: turn the mode on in train.py:14 (cures 3)",
    ]


def test_a_place_in_a_message_has_its_cell() -> None:
    report = check(FIXTURES / "TL301" / "unseeded_notebook.ipynb")
    messages = [found.message for found in report.diagnostics if found.code == "TL301"]
    assert [bool(re.search(r"unseeded_notebook\.ipynb:cell \d+:\d+$", message)) for message in messages] == [True]


@pytest.mark.parametrize("pattern", [VIM, REVIEWDOG_FLAKE8])
def test_tools_that_read_flake8_read_torchlint(pattern: re.Pattern[str]) -> None:
    read = [match for match in map(pattern.fullmatch, text_lines(REPORT)) if match]
    places = [(match["file"], int(match["line"]), int(match["column"])) for match in read]
    assert places == [("src/a.py", 3, 5), ("src/nb.ipynb:cell 3", 2, 1), ("src/with: colon.py", 10, 1)]


@pytest.mark.skipif(shutil.which("vim") is None, reason="needs Vim")
def test_vim_jumps_to_each_finding(tmp_path: Path) -> None:
    errors, result = tmp_path / "errors", tmp_path / "result"
    errors.write_text("\n".join([*text_lines(REPORT), ""]))
    script = (
        "let rows = map(filter(getqflist(), 'v:val.valid'), "
        '\'bufname(v:val.bufnr) . "|" . v:val.lnum . "|" . v:val.col\') '
        f"| call writefile(rows, '{result}') | qall!"
    )
    command = ["vim", "-u", "NONE", "-es", "-N", "-c", r"set errorformat=%f:%l:%c:\ %m", "-c", f"cgetfile {errors}"]
    subprocess.run([*command, "-c", script], cwd=tmp_path, check=False, timeout=60, stdin=subprocess.DEVNULL)
    rows = result.read_text().splitlines()
    assert rows[0] == "src/a.py|3|5"
    assert rows[-1] == "src/with: colon.py|10|1"
    assert len(rows) == 3


def test_control_characters_cannot_break_a_line_or_a_terminal() -> None:
    report = Report((make_finding("a\nb.py", message="x\r\n\x1b[31my\u202ez"),))
    assert next(iter(text_lines(report))) == r"a\nb.py:3:5: TL101 x\r\n\x1b[31my\u202ez"


def test_a_clean_run_is_one_line() -> None:
    assert list(text_lines(Report((), files=("a.py", "b.py")))) == ["No findings in 2 files."]


def test_colour_only_adds_escapes() -> None:
    plain = list(text_lines(REPORT))
    coloured = list(text_lines(REPORT, colour=True))
    assert coloured != plain
    assert [re.sub(r"\x1b\[[\d;]*m", "", line) for line in coloured] == plain


def test_full_shows_the_source_the_why_and_the_way_out() -> None:
    related = Related(Location("lib.py", None, 9, 1, 9, 2), "turned on here")
    finding = make_finding(column=7, end=(3, 17), cure=make_cure(), related=(related,))
    reason = "Atomic adds come in any\norder. So sums differ. This is known."
    lines = list(full_lines(Report((finding,)), {"TL101": reason}))
    assert lines == [
        "train.py:3:7: TL101 `index_add_` varies on CUDA",
        "  warning, high confidence · nondeterministic-operator",
        "    |",
        "  3 |     x.index_add_(0, i, v)",
        "    |       ^^^^^^^^^^",
        "  why:  Atomic adds come in any order. So sums differ.",
        "  do:   Turn the mode on.",
        "  cure: turn the mode on in train.py:14",
        "  see:  lib.py:9:1: turned on here",
        "  https://example.org/TL101",
        "",
        "1 finding, 1 cure: turn the mode on in train.py:14",
    ]


def test_full_offers_no_cure_that_would_make_the_line_raise() -> None:
    lines = list(full_lines(Report((make_finding(cure=make_cure(raises=True)),)), {}))
    assert not [line for line in lines if line.startswith("  cure:")]
    assert lines[-1] == "1 finding, 1 cure: turn the mode on in train.py:14 (1 line will raise)"


def test_full_wraps_running_text_between_words() -> None:
    lines = list(full_lines(Report((make_finding(),)), {"TL101": "word " * 40}))
    (start,) = [number for number, line in enumerate(lines) if line.startswith("  why:  word")]
    assert max(map(len, lines[start : start + 3])) <= 100
    assert lines[start + 1].startswith("        word")


def test_full_without_source_line_or_reason() -> None:
    finding = make_finding(source_line="", severity=Severity.ERROR, confidence=Confidence.LOW)
    lines = list(full_lines(Report((finding,)), {}))
    assert lines[1:3] == ["  error, low confidence · nondeterministic-operator", "  do:   Turn the mode on."]


def test_a_span_over_several_lines_is_marked_to_the_end_of_its_first() -> None:
    lines = list(full_lines(Report((make_finding(column=5, end=(5, 2)),)), {}))
    assert lines[4] == "    |     " + "^" * len("x.index_add_(0, i, v)")


def test_statistics_count_by_rule() -> None:
    report = Report((*(make_finding(line=n) for n in range(10)), make_finding(code="TL001", name="unreadable")))
    assert list(statistics_lines(report)) == [
        "10 TL101 nondeterministic-operator",
        " 1 TL001 unreadable",
        "",
        "11 findings.",
    ]
