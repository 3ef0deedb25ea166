"""The last lines of a report for people: what was not checked, and what would end the findings."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.report.fixes import closing_line, counted
from torchlint.report.paint import one_line

if TYPE_CHECKING:
    from torchlint.diagnostics import Report, Skipped

_SHOWN = 3
"""Skipped files, and programs, that are named; the rest are counted. Each skipped file is noted on standard error."""


def closing_lines(report: Report, failing: int | None, *, knows_fixes: bool = False) -> Iterator[str]:
    """Yield `3 files checked, 1 skipped: …` where something was, and the closing line where there is one.

    `knows_fixes` says that each finding carries its automatic fix; else only what its rule says of them is known.
    """
    if report.skipped:
        yield _skipped_line(report)
    closing = closing_line(report, failing)
    if closing:
        assumed = report.assumed_torch
        told = f" (no torch release is pinned: judged for {assumed}; pin one or pass --torch)" if assumed else ""
        yield f"{closing}{told}"
    yield from _fix_lines(report, knows_fixes=knows_fixes or report.is_fixed)
    yield from _open_lines(report)


def _fix_lines(report: Report, *, knows_fixes: bool) -> Iterator[str]:
    """Yield `3 findings can be fixed with --fix (1 more with --unsafe-fixes)`, or at most how many."""
    if knows_fixes:
        found = [one.edits.safety for one in report.diagnostics if one.edits is not None]
    else:
        found = [one.fix_safety for one in report.diagnostics if one.fix_safety]
    safe = found.count("safe")
    rest = len(found) - safe
    limit, hint = ("", "") if knows_fixes else ("up to ", "; add --diff to see how")
    if safe:
        more = f" ({limit}{rest} more with --unsafe-fixes)" if rest else ""
        yield f"{limit}{counted(safe, 'finding')} can be fixed with --fix{more}{hint}"
    elif rest:
        yield f"{limit}{counted(rest, 'finding')} can be fixed with --fix --unsafe-fixes{hint}"


def _open_lines(report: Report) -> Iterator[str]:
    """Yield ``train.py: 6 points left open (`torchlint audit train.py`)``, or who counts them."""
    if report.programs and not report.open:
        subject, is_one = report.programs[0], len(report.programs) == 1
        command = f"torchlint audit {shlex.quote(subject)}" if is_one else "torchlint audit"
        words = subject if is_one else counted(len(report.programs), "program")
        yield one_line(f"{words}: `{command}` shows what this check leaves open")
    for program in report.open[:_SHOWN]:
        yield one_line(f"{program.program}: {counted(program.count, 'point')} left open (`{program.command}`)")
    if len(report.open) > _SHOWN:
        yield f"and {counted(len(report.open) - _SHOWN, 'more program')}"


def _skipped_line(report: Report) -> str:
    cells = sum(each.cell is not None for each in report.skipped)
    whole = len(report.skipped) - cells
    words = " and ".join(counted(count, noun) for count, noun in ((whole, "file"), (cells, "cell")) if count)
    named = [_named(each) for each in report.skipped[:_SHOWN]]
    more = [f"{len(report.skipped) - _SHOWN} more"] if len(report.skipped) > _SHOWN else []
    done = counted(len(report.files), "file")
    return f"{done} checked, {words if cells else whole} skipped: {' · '.join([*named, *more])}"


def _named(skipped: Skipped) -> str:
    cell = "" if skipped.cell is None else f" cell {skipped.cell}"
    return one_line(f"{skipped.path}{cell} ({skipped.message})")
