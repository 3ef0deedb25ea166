"""`torchlint check --add-ignore`: puts ignore comments into the files that have findings."""

from __future__ import annotations

import dataclasses
import itertools
from pathlib import Path

from torchlint.cli.fixing import diff_of
from torchlint.cli.printing import print_lines, say, say_error, say_note
from torchlint.cli.writing import replace_source
from torchlint.diagnostics import Diagnostic, Report
from torchlint.errors import UnreadableSource


def add_ignores(report: Report, reason: str, *, writes: bool = True) -> tuple[Report, bool]:
    """Write the comments, or show what would be written.

    What is left of the report, and whether every file could be written.
    """
    left: list[Diagnostic] = []
    silenced = files = 0
    is_written = True
    for shown, group in itertools.groupby(report.diagnostics, key=lambda diagnostic: diagnostic.location.path):
        findings = list(group)
        if shown not in report.files:
            say_note(f"{shown}: only Python files and notebooks can hold ignore comments")
            left += findings
            continue
        try:
            count, remaining = _add_to(Path(shown), shown, findings, reason, writes=writes)
        except (OSError, ValueError, UnreadableSource) as error:
            said = getattr(error, "strerror", None) or error
            say_error(f"{shown}: no comments were written: {said}")
            is_written, remaining = False, findings
        else:
            silenced += count
            files += count > 0
        left += remaining
    said = f"{silenced} finding{'' if silenced == 1 else 's'} in {files} file{'' if files == 1 else 's'}"
    say(f"{'added' if writes else 'would add'} ignore comments for {said}")
    return dataclasses.replace(report, diagnostics=tuple(left), suppressed=report.suppressed + silenced), is_written


def _add_to(
    path: Path, shown: str, findings: list[Diagnostic], reason: str, *, writes: bool
) -> tuple[int, list[Diagnostic]]:
    """How many findings of a file have a comment now, and the others."""
    from torchlint.adoption.ignore_comments import with_ignores

    data = path.read_bytes()
    commented = with_ignores(data, shown, findings, reason)
    if not writes:
        print_lines(diff_of(path, data, commented.data))
    elif commented.data != data:
        replace_source(path, data, commented.data)
    for finding, why in commented.left:
        say_note(f"{finding.location}: {finding.code}: {why}")
    return commented.silenced, [finding for finding, _ in commented.left]
