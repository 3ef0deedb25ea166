"""The last lines of a report for people."""

from __future__ import annotations

import pytest

from tests.report.findings import make_finding
from torchlint.diagnostics import OpenPoints, Report, Severity
from torchlint.report.closing import closing_lines


def test_the_torch_that_nothing_pins_is_told() -> None:
    (line,) = closing_lines(Report((make_finding(),), assumed_torch="2.15"), failing=1)
    assert line.startswith("1 finding (1 warning; fails the run). (no torch release is pinned: judged for 2.15; ")
    assert line.endswith("; pin one or pass --torch)")


@pytest.mark.parametrize(
    ("severities", "failing", "said"),
    [
        ("WWIII", 2, "5 findings (2 warnings fail the run; 3 info do not)."),
        ("EWWI", 3, "4 findings (1 error, 2 warnings fail the run; 1 info does not)."),
        ("WI", 1, "2 findings (1 warning fails the run; 1 info does not)."),
        ("EWWI", 1, "4 findings (1 error fails the run; 2 warnings, 1 info do not)."),
        ("III", 0, "3 findings (3 info; none fails the run)."),
        ("WI", 2, "2 findings (1 warning, 1 info; all fail the run)."),
        ("WI", 0, "2 findings (1 warning, 1 info; none fails the run)."),
        ("WWII", 3, "4 findings (2 warnings, 2 info; 3 fail the run)."),
    ],
)
def test_info_is_counted_apart_from_what_fails_the_run(severities: str, failing: int, said: str) -> None:
    named = {severity.name[0]: severity for severity in Severity}
    found = tuple(make_finding(severity=named[letter]) for letter in severities)
    assert list(closing_lines(Report(found), failing)) == [said]


def test_without_one_nothing_is_said_of_torch() -> None:
    (line,) = closing_lines(Report((make_finding(),)), failing=1)
    assert "torch" not in line


@pytest.mark.parametrize(
    ("programs", "said"),
    [
        (("my train.py",), "my train.py: `torchlint audit 'my train.py'` shows what this check leaves open"),
        (("a.py", "b.py"), "2 programs: `torchlint audit` shows what this check leaves open"),
    ],
)
def test_programs_that_start_here_are_named(programs: tuple[str, ...], said: str) -> None:
    assert list(closing_lines(Report((), programs=programs), failing=0))[-1] == said
    counted = Report((), programs=programs, open=(OpenPoints("a.py", 3, "torchlint audit a.py"),))
    assert said not in list(closing_lines(counted, failing=0))
