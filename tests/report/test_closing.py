"""The last lines of a report for people."""

from __future__ import annotations

from tests.report.findings import make_finding
from torchlint.diagnostics import Report
from torchlint.report.closing import closing_lines


def test_the_torch_that_nothing_pins_is_told() -> None:
    (line,) = closing_lines(Report((make_finding(),), assumed_torch="2.15"), failing=1)
    assert line == "1 finding (1 warning; fails the run). (for torch 2.15: nothing pins one)"


def test_without_one_nothing_is_said_of_torch() -> None:
    (line,) = closing_lines(Report((make_finding(),)), failing=1)
    assert "torch" not in line
