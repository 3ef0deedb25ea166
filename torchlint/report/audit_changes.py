"""What changed since an earlier audit, for the terminal, within 80 columns."""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.audit.page import Change, Comparison, ProgramChange, topic
from torchlint.report.audit_text import Style, spot_lines, wrapped
from torchlint.report.audit_words import STATUSES, changes_of, other_of
from torchlint.report.paint import one_line

_INDENT = " " * 10


def change_lines(compared: Comparison, style: Style) -> Iterator[str]:
    """Yield the counts, then the lines of each program that are new or gone."""
    yield ""
    yield style.paint.bold(one_line(f"Compared with {compared.against}: {changes_of(compared)}"))
    for program in compared.programs:
        yield ""
        yield f"{style.paint.bold(one_line(program.name))}{STATUSES[program.status]}"
        yield from _program(program, style)


def _program(program: ProgramChange, style: Style) -> Iterator[str]:
    for changes, is_new in ((program.new, True), (program.gone, False)):
        for change in changes:
            yield from _change(change, style, is_new=is_new)


def _change(change: Change, style: Style, *, is_new: bool) -> Iterator[str]:
    """`new   ✗ Seeds, torch: nothing seeds it [TL301]`, its places, and what stood there before."""
    line, other = change.line, other_of(change, is_new=is_new)
    rule = f" [{line.code}]" if line.code else ""
    first, *rest = wrapped(one_line(f"{topic(change.title, line)}: {line.text}{rule}"), _INDENT)
    yield f"  {'new' if is_new else 'gone':<5} {style.mark(line.light)} {first.lstrip()}"
    yield from rest
    yield from spot_lines(line, style, _INDENT)
    if other:
        yield from (style.paint.faint(each) for each in wrapped(one_line(other), _INDENT))
