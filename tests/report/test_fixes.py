from __future__ import annotations

from tests.report.findings import make_finding, make_fix
from torchlint.diagnostics import Fix, InternalError, Report, Severity
from torchlint.report.fixes import closing_line

SORT = make_fix("sort", one="sort the listing in data.py:3", many="sort {count} listings")


def test_fixes_are_sorted_by_what_they_end_and_raising_lines_are_counted() -> None:
    mode = [make_finding(line=line, fix=make_fix()) for line in range(1, 6)]
    raising = [make_finding(line=line, fix=make_fix(raises=True)) for line in (7, 7, 8)]
    listings = [make_finding("data.py", line, fix=SORT) for line in range(1, 8)]
    assert closing_line(Report((*mode, *raising, *listings))) == (
        "15 findings, 2 fixes: sort 7 listings · turn the mode on in train.py:14 (fixes 5; 2 lines will raise)"
    )


def test_one_finding_has_its_own_words() -> None:
    assert closing_line(Report((make_finding(fix=SORT),))) == "1 finding, 1 fix: sort the listing in data.py:3"


def test_one_raising_line() -> None:
    line = closing_line(Report((make_finding(fix=make_fix(raises=True)),)))
    assert line == "1 finding, 1 fix: turn the mode on in train.py:14 (1 line will raise)"


def test_equal_fixes_are_ordered_by_key() -> None:
    findings = tuple(make_finding(fix=make_fix(key, one=key)) for key in ("b", "a"))
    assert closing_line(Report(findings)) == closing_line(Report(findings[::-1])) == "2 findings, 2 fixes: a · b"


def test_many_fixes_are_cut_short() -> None:
    findings = tuple(make_finding(fix=make_fix(f"k{number:02}", one=f"mend {number}")) for number in range(12))
    line = closing_line(Report(findings))
    assert line.startswith("12 findings, 12 fixes: mend 0 · mend 1 · ")
    assert line.endswith(" · mend 7 · 4 more")


def test_findings_without_a_fix() -> None:
    assert closing_line(Report((make_finding(), make_finding()))) == "2 findings."


def test_braces_in_a_file_name_are_no_placeholder() -> None:
    fix = make_fix(one="mend {a}.py", many="mend {count} in {a}.py")
    assert "mend 2 in {a}.py" in closing_line(Report((make_finding(fix=fix), make_finding(fix=fix))))


def test_a_clean_run_says_how_much_was_read() -> None:
    assert closing_line(Report((), files=("a.py",))) == "No findings in 1 file."
    assert closing_line(Report((), files=("a.py", "b.py"), suppressed=3)) == "No findings in 2 files (3 suppressed)."


def test_a_run_that_broke_or_read_nothing_does_not_call_itself_clean() -> None:
    assert closing_line(Report((), files=("a.py",), internal_errors=(InternalError("c", "a.py", "m"),))) == ""
    assert closing_line(Report(())) == ""


def _in(*programs: str, raises: bool = False, raises_on: str = "") -> Fix:
    words = ("turn the mode on", "turn the mode on in {count} programs")
    return Fix("mode", *words, raises=raises, raises_on=raises_on, programs=programs)


def test_one_program_is_named_and_several_are_counted_once() -> None:
    one = (make_finding(fix=_in("train.py")), make_finding(line=9, fix=_in("train.py")))
    assert closing_line(Report(one)) == "2 findings, 1 fix: turn the mode on in train.py (fixes 2)"
    more = (*one, make_finding(line=11, fix=_in("fit.py", "train.py")))
    assert closing_line(Report(more)) == "3 findings, 1 fix: turn the mode on in 2 programs (fixes 3)"


def test_no_program_is_named_for_findings_that_are_not_its_own() -> None:
    found = (make_finding(fix=_in("train.py")), make_finding("loose.py", fix=_in()))
    assert closing_line(Report(found)) == "2 findings, 1 fix: turn the mode on (fixes 2)"


def test_what_an_act_does_on_older_releases_is_said() -> None:
    found = (make_finding(fix=_in("train.py", raises_on="torch <= 2.0")), make_finding(line=4, fix=_in("train.py")))
    assert closing_line(Report(found)) == (
        "2 findings, 1 fix: turn the mode on in train.py (fixes 2; 1 line will raise on torch <= 2.0)"
    )


def test_what_ends_the_worst_findings_stands_first() -> None:
    drop = make_fix("bias", one="drop the bias", many="drop {count} biases")
    notes = [make_finding(line=line, fix=drop, severity=Severity.INFO) for line in range(1, 4)]
    line = closing_line(Report((*notes, make_finding(line=9, fix=SORT, severity=Severity.WARNING))))
    assert line == "4 findings, 2 fixes: sort the listing in data.py:3 · drop 3 biases"
