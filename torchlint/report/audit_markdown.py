"""An audit as Markdown for a comment on a pull request: short enough for GitHub, and folded where it is long."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from torchlint.audit.page import Audit, Comparison, Light, Line, Page, ProgramChange, topic
from torchlint.report.audit_words import (
    EXPLAINED,
    MARKS,
    STATUSES,
    WORDS,
    changes_of,
    counts_of,
    other_of,
)
from torchlint.report.fixes import counted
from torchlint.report.markdown import code, html_code, html_text, prose

LONGEST = 60_000
"""Characters of a comment. GitHub takes 65,536."""
_LONGEST_PART = 20_000
"""Characters of the table, and of what changed."""
_SPOTS = 3
"""Places shown of one line; the rest are counted."""
_KEPT = 500
"""Characters for the sentences that count what has no room."""


@dataclass(slots=True)
class _Sheet:
    """The lines so far, and how many characters are left for more."""

    room: int
    lines: list[str] = field(default_factory=list)

    def add(self, *lines: str) -> None:
        self.lines += lines
        self.room -= sum(len(line) + 1 for line in lines)


def _fitting(lines: Sequence[str], room: int) -> Sequence[str]:
    """The first lines for which there is room."""
    for index, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0:
            return lines[:index]
    return lines


def markdown_lines(audit: Audit) -> Iterator[str]:
    """Yield the lines of the comment: a heading, a table of the programs, and what was found in each."""
    if not audit.pages:
        yield "## torchlint audit: no program found"
        return
    sheet, pages = _Sheet(LONGEST - _KEPT), audit.worst_first().pages
    sheet.add(f"## torchlint audit: {_summary(pages)}", "", *_key(), "")
    _add_table(sheet, pages)
    if audit.compared is not None:
        _add_changes(sheet, audit.compared)
    _add_pages(sheet, pages)
    yield from sheet.lines


def _summary(pages: Sequence[Page]) -> str:
    """`3 reasons found, 7 points left open in 2 programs`."""
    reasons, points = (sum(page.count(light) for page in pages) for light in (Light.RED, Light.AMBER))
    found = [f"{counted(reasons, 'reason')} found" if reasons else "no reason found"]
    if points:
        found.append(f"{counted(points, 'point')} left open")
    return f"{', '.join(found)} in {counts_of(pages)}"


def _key() -> Iterator[str]:
    yield "<br>".join(f"{MARKS[light]} {WORDS[light]}: {EXPLAINED[light]}" for light in sorted(Light, reverse=True))


def _add_table(sheet: _Sheet, pages: Sequence[Page]) -> None:
    rows = [_row(page) for page in pages]
    shown = _fitting(rows, _LONGEST_PART)
    sheet.add("| | program | verdict |", "| --- | --- | --- |", *shown)
    if len(shown) < len(rows):
        sheet.add("", f"and {counted(len(rows) - len(shown), 'more program')}")


def _row(page: Page) -> str:
    example = " (example)" if page.subject.is_example else ""
    return f"| {MARKS[page.light]} | {html_code(page.subject.name)}{example} | {html_text(page.verdict)} |"


def _add_changes(sheet: _Sheet, compared: Comparison) -> None:
    """What is new and gone since the earlier audit, not folded: a reviewer looks for it first."""
    rows = [row for program in compared.programs for row in _change_rows(program)]
    shown = _fitting(rows, _LONGEST_PART)
    sheet.add("", f"### Compared with {code(compared.against)}: {changes_of(compared)}", "", *shown)
    if len(shown) < len(rows):
        sheet.add(f"- and {counted(len(rows) - len(shown), 'more change')}")


def _change_rows(program: ProgramChange) -> Iterator[str]:
    name = code(program.name)
    if program.status != "kept":
        yield f"- {name}{STATUSES[program.status]}"
    for changes, is_new in ((program.new, True), (program.gone, False)):
        for change in changes:
            other = other_of(change, is_new=is_new)
            shown = _told(change.title, change.line) + (f"<br>{prose(other)}" if other else "")
            yield f"- {'new' if is_new else 'gone'} in {name}: {shown}"


def _add_pages(sheet: _Sheet, pages: Sequence[Page]) -> None:
    """Fold out one program after the other, as long as there is room for a line of it."""
    told = [page for page in pages if page.light is not Light.GREEN]
    for index, page in enumerate(told):
        head = _head(page)
        lines = [f"- {_told(title, line)}" for title, line in page.ranked]
        shown = _fitting(lines, sheet.room - sum(map(len, head)) - _KEPT)
        if not shown:
            left = told[index:]
            count = sum(len(page.ranked) for page in left)
            sheet.add("", f"{counted(count, 'more line')} of {counted(len(left), 'program')} have no room here.")
            return
        sheet.add(*head, *shown)
        if len(shown) < len(lines):
            sheet.add(f"- and {counted(len(lines) - len(shown), 'more line')}")
        sheet.add("", "</details>")


def _head(page: Page) -> list[str]:
    name = html_code(page.subject.name)
    return ["", f"<details><summary>{MARKS[page.light]} {name}: {html_text(page.verdict)}</summary>", ""]


def _told(title: str, line: Line) -> str:
    """`✗ **Seeds, torch**: nothing seeds it (TL301)`, its places and the advice."""
    mark = MARKS[line.light] if line.light is not None else ""
    parts = [f"{mark} **{prose(topic(title, line))}**: {prose(line.text)}{_rule(line)}"]
    if line.spots:
        places = [code(str(spot)) + (f" ({prose(spot.note)})" if spot.note else "") for spot in line.spots[:_SPOTS]]
        more = len(line.spots) - _SPOTS
        parts.append(", ".join(places) + (f" and {more} more" if more > 0 else ""))
    if line.advice:
        parts.append(prose(line.advice))
    return "<br>".join(parts)


def _rule(line: Line) -> str:
    if line.url.startswith(("https://", "http://")):
        return f" ([{prose(line.code)}](<{line.url}>))"
    return f" ({prose(line.code)})" if line.code else ""
