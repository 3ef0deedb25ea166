"""The closing line: not how many findings there are, but what few things would end them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from torchlint.diagnostics import Severity
from torchlint.report.paint import one_line

if TYPE_CHECKING:
    from torchlint.diagnostics import Cure, Diagnostic, Report

SHOWN = 8
"""Cures named in the line; the rest are counted."""


@dataclass(slots=True)
class _Group:
    cure: Cure
    ended: int = 0
    raising: set[tuple[str, int | None, int]] = field(default_factory=set)

    def add(self, diagnostic: Diagnostic, *, raises: bool) -> None:
        place = diagnostic.location
        if raises:
            self.raising.add((place.path, place.cell, place.line))
        else:
            self.ended += 1

    @property
    def rank(self) -> tuple[int, int, str]:
        return (-self.ended, -len(self.raising), self.cure.key)

    def __str__(self) -> str:
        words = self.cure.one if self.ended + len(self.raising) == 1 else self.cure.many
        says_count = "{count}" in words
        extra = [] if says_count or self.ended <= 1 else [f"cures {self.ended}"]
        if self.raising:
            extra.append(f"{counted(len(self.raising), 'line')} will raise")
        words = one_line(words.replace("{count}", str(self.ended)))
        return f"{words} ({'; '.join(extra)})" if extra else words


def closing_line(report: Report, failing: int | None = None) -> str:
    """`212 findings, 3 cures: turn the mode on in train.py:14 (cures 188; 4 lines will raise) · sort 6 listings · …`.

    Findings whose cure has the same key are one cure; the cure that ends most findings stands first. Without
    findings it says how many files were clean, and nothing when a check broke or there was no file. `failing` says
    how many findings fail the run; then it tells the severities too.
    """
    found = len(report.diagnostics)
    if not found:
        return "" if report.internal_errors or not report.files else _clean(report)
    count = counted(found, "new finding" if report.known else "finding") + _severities(report.diagnostics, failing)
    groups = _groups(report.diagnostics)
    if not groups:
        return f"{count}."
    more = [f"{len(groups) - SHOWN} more"] if len(groups) > SHOWN else []
    listed = " · ".join([*map(str, groups[:SHOWN]), *more])
    return f"{count}, {counted(len(groups), 'cure')}: {listed}"


def _severities(diagnostics: Collection[Diagnostic], failing: int | None) -> str:
    """` (1 error, 4 warnings, 1 info; 5 fail the run)`."""
    if failing is None:
        return ""
    counts = sorted(Counter(diagnostic.severity for diagnostic in diagnostics).items(), reverse=True)
    words = [
        f"{count} info" if severity is Severity.INFO else counted(count, severity.label) for severity, count in counts
    ]
    if failing == 0:
        verdict = "none fails the run"
    elif failing < len(diagnostics):
        verdict = f"{failing} {'fails' if failing == 1 else 'fail'} the run"
    else:
        verdict = "fails the run" if failing == 1 else "all fail the run"
    return f" ({', '.join(words)}; {verdict})"


def _groups(diagnostics: Iterable[Diagnostic]) -> list[_Group]:
    groups: dict[str, _Group] = {}
    for diagnostic in diagnostics:
        cure = diagnostic.cure
        if cure is not None:
            groups.setdefault(cure.key, _Group(cure)).add(diagnostic, raises=cure.raises)
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
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
