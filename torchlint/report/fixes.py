"""The closing line: not how many findings there are, but what few things would end them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from torchlint.diagnostics import Severity
from torchlint.report.paint import one_line

if TYPE_CHECKING:
    from torchlint.diagnostics import Diagnostic, Fix, Report

SHOWN = 8
"""Fixes named in the line; the rest are counted."""
_Line = tuple[str, int | None, int]
"""A path, a cell and a line."""


@dataclass(slots=True)
class _Group:
    fix: Fix
    worst: Severity = Severity.INFO
    ended: int = 0
    raising: set[_Line] = field(default_factory=set)
    raising_older: dict[str, set[_Line]] = field(default_factory=dict)
    """By the older releases on which lines would raise."""
    programs: set[str] = field(default_factory=set)
    is_named: bool = True
    """Whether each finding tells its programs: else naming those of some would be wrong for the others."""

    def add(self, diagnostic: Diagnostic, fix: Fix) -> None:
        place = diagnostic.location
        line = (place.path, place.cell, place.line)
        self.worst = max(self.worst, diagnostic.severity)
        self.programs.update(fix.programs)
        self.is_named = self.is_named and bool(fix.programs)
        if fix.raises:
            self.raising.add(line)
        else:
            self.ended += 1
        if fix.raises_on:
            self.raising_older.setdefault(fix.raises_on, set()).add(line)

    @property
    def rank(self) -> tuple[int, int, int, str]:
        return (-self.worst, -self.ended, -len(self.raising), self.fix.key)

    @property
    def words(self) -> str:
        if not self.programs:
            only = self.ended + len(self.raising) == 1
            return (self.fix.one if only else self.fix.many).replace("{count}", str(self.ended))
        if not self.is_named:
            return self.fix.one
        if len(self.programs) == 1:
            return f"{self.fix.one} in {min(self.programs)}"
        return self.fix.many.replace("{count}", str(len(self.programs)))

    def __str__(self) -> str:
        is_counted = "{count}" in self.fix.many and not self.programs
        extra = [] if is_counted or self.ended <= 1 else [f"fixes {self.ended}"]
        if self.raising:
            extra.append(f"{counted(len(self.raising), 'line')} will raise")
        for releases, lines in sorted(self.raising_older.items()):
            extra.append(f"{counted(len(lines), 'line')} will raise on {releases}")
        words = one_line(self.words)
        return f"{words} ({'; '.join(extra)})" if extra else words


def closing_line(report: Report, failing: int | None = None) -> str:
    """`212 findings, 3 fixes: turn the mode on in train.py (fixes 188; 4 lines will raise) · sort 6 listings · …`.

    Findings whose fix has the same key are one fix. The fix of the worst findings stands first, then the one that
    ends most. Without findings it says how many files were clean, and nothing when a check broke or there was no file.
    `failing` says how many findings fail the run; then it tells the severities too.
    """
    found = len(report.diagnostics)
    if not found:
        return "" if report.internal_errors or report.errors or not report.files else _clean(report)
    count = counted(found, "new finding" if report.known else "finding") + _severities(report.diagnostics, failing)
    groups = _groups(report.diagnostics)
    if not groups:
        return f"{count}."
    more = [f"{len(groups) - SHOWN} more"] if len(groups) > SHOWN else []
    listed = " · ".join([*map(str, groups[:SHOWN]), *more])
    return f"{count}, {counted(len(groups), 'fix')}: {listed}"


def _severities(diagnostics: Collection[Diagnostic], failing: int | None) -> str:
    """` (1 error, 4 warnings fail the run; 1 info does not)`."""
    if failing is None:
        return ""
    counts = Counter(diagnostic.severity for diagnostic in diagnostics)
    if failing == 0:
        return f" ({_counts(counts)}; none fails the run)"
    if failing == len(diagnostics):
        return f" ({_counts(counts)}; {'fails' if failing == 1 else 'all fail'} the run)"
    fails = "fails" if failing == 1 else "fail"
    for least in counts:
        worse = Counter({severity: count for severity, count in counts.items() if severity >= least})
        if worse.total() == failing:
            does = "does" if len(diagnostics) - failing == 1 else "do"
            return f" ({_counts(worse)} {fails} the run; {_counts(counts - worse)} {does} not)"
    return f" ({_counts(counts)}; {failing} {fails} the run)"  # roots that differ in `fail-on`


def _counts(counts: Mapping[Severity, int]) -> str:
    """`1 error, 4 warnings, 1 info`."""
    return ", ".join(
        f"{count} info" if severity is Severity.INFO else counted(count, severity.label)
        for severity, count in sorted(counts.items(), reverse=True)
    )


def _groups(diagnostics: Iterable[Diagnostic]) -> list[_Group]:
    groups: dict[str, _Group] = {}
    for diagnostic in diagnostics:
        fix = diagnostic.fix
        if fix is not None:
            groups.setdefault(fix.key, _Group(fix)).add(diagnostic, fix)
    return sorted(groups.values(), key=lambda group: group.rank)


def _clean(report: Report) -> str:
    left_out = {
        "suppressed": report.suppressed,
        "in the baseline": report.known,
        "on unchanged lines": report.unchanged,
    }
    words = ", ".join(f"{count} {what}" for what, count in left_out.items() if count)
    found = "new findings" if report.known else "findings"
    return f"No {found} in {counted(len(report.files), 'file')}{words and f' ({words})'}."


def counted(count: int, noun: str) -> str:
    plural = "es" if noun.endswith("x") else "s"
    return f"{count} {noun}" if count == 1 else f"{count:,} {noun}{plural}"
