"""An audit for the terminal: a page for each program, or an overview of many, within 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torchlint.audit.page import Audit, Light, Line, Page, Section, Spot
from torchlint.report.audit_words import EXPLAINED, MARKS, SHORT, WORDS, counts_of, facts_of, section_of, source_text
from torchlint.report.paint import Paint, first_words, one_line

_WIDTH = 80
_TITLE = 20
"""Columns of a section's title with its mark."""
_LABEL = 16
"""Columns of a line's label; a longer one takes a line of its own."""
_SPOT_INDENT = " " * 6
_SPOTS = 3
"""Places shown of one line; the rest are counted."""
_COLOURS = {Light.GREEN: "green", Light.AMBER: "yellow", Light.RED: "red"}
_PLAIN_MARKS = {Light.GREEN: "+", Light.AMBER: "!", Light.RED: "x"}
_COUNTED = (Light.RED, Light.AMBER)
"""What an overview counts after the name of a program."""
_COUNT = 3
"""Columns of such a number."""
NEEDED = "✓✗·─…"
"""Characters beside ASCII that are printed where the terminal has them."""


@dataclass(frozen=True, slots=True)
class Style:
    """How to print: in colour, and with ASCII alone where the output knows no other characters."""

    colour: bool = False
    ascii_only: bool = False

    @property
    def paint(self) -> Paint:
        return Paint(self.colour)

    def mark(self, light: Light | None) -> str:
        if light is None:
            return self.paint.faint(self.dot)
        return self.tint((_PLAIN_MARKS if self.ascii_only else MARKS)[light], light)

    def tint(self, text: str, light: Light) -> str:
        return self.paint.coloured(text, _COLOURS[light])

    @property
    def dot(self) -> str:
        return "-" if self.ascii_only else "·"

    @property
    def rule(self) -> str:
        return ("-" if self.ascii_only else "─") * _WIDTH

    def clipped(self, text: str, width: int) -> str:
        cut = "..." if self.ascii_only else "…"
        return text if len(text) <= width else first_words(text, max(width - len(cut), 0)) + cut


def page_lines(audit: Audit, style: Style) -> Iterator[str]:
    """Yield every page, and what the marks mean."""
    for index, page in enumerate(audit.pages):
        if index:
            yield from ("", style.paint.faint(style.rule), "")
        yield from _page(page, style)
    if audit.pages:
        yield ""
        yield from _legend(style)


def overview_lines(audit: Audit, style: Style) -> Iterator[str]:
    """Yield one line a program, the worst first: how much was found, and what each of its sections comes to."""
    pages = audit.worst_first().pages
    keys = list(dict.fromkeys(section.key for page in pages for section in page.sections))
    room = _WIDTH - 5 * len(keys) - len(_COUNTED) * _COUNT - 1
    heads = "".join(f"{SHORT.get(key, key[:4]):>5}" for key in keys)
    yield style.paint.bold(counts_of(pages))
    yield " " * room + "".join(" " * (_COUNT - 1) + style.mark(light) for light in _COUNTED) + style.paint.faint(heads)
    for index, page in enumerate(pages):
        if page.subject.is_example and index and not pages[index - 1].subject.is_example:
            yield ""
        name = _left_clipped(one_line(page.subject.name), room - 1, style)
        counts = "".join(f"{page.count(light):>{_COUNT}}" for light in _COUNTED)
        yield f"{name:<{room}}{counts}" + "".join(f"    {_cell(page, key, style)}" for key in keys)
    yield ""
    yield from _legend(style)
    yield from wrapped("A page: `torchlint audit FILE`. All pages: `--pages`, or `--output audit.html`.", "")


def _cell(page: Page, key: str, style: Style) -> str:
    section = section_of(page, key)
    return " " if section is None else style.mark(section.light)


def _left_clipped(text: str, width: int, style: Style) -> str:
    """The end of a path says more than its beginning."""
    cut = "..." if style.ascii_only else "…"
    return text if len(text) <= width else cut + text[len(text) - width + len(cut) :]


def _page(page: Page, style: Style) -> Iterator[str]:
    yield style.paint.bold(one_line(page.subject.name))
    separator = f" {style.dot} "
    yield from (style.paint.faint(line) for line in textwrap.wrap(separator.join(facts_of(page)), _WIDTH))
    yield ""
    yield f"{style.mark(page.light)} {style.tint(page.verdict, page.light)}"
    yield from _first(page)
    for section in page.sections:
        yield ""
        yield from _section(section, style, page.folded)
    if page.folded:
        yield ""
        count = len(page.folded)
        text = f"{count} open point{'' if count == 1 else 's'} that were a cause less often take one row each: "
        yield from wrapped(f"{text}`--output audit.html` shows all in full.", "  ")
    yield ""
    yield style.paint.bold("Not seen")
    for cut in page.unseen:
        first, *rest = wrapped(one_line(cut), "    ")
        yield f"  {style.dot} {first.lstrip()}"
        yield from rest


def _first(page: Page) -> Iterator[str]:
    """Where to begin, on a page with more than fits one look."""
    if page.count(Light.RED) + page.count(Light.AMBER) <= len(page.first):
        return
    yield from wrapped(f"Look first at {', '.join(_named(title, line) for title, line in page.first)}.", "  ")


def _named(title: str, line: Line) -> str:
    return f"{one_line(line.label)} ({title})"


def _section(section: Section, style: Style, folded: Sequence[Line]) -> Iterator[str]:
    title = section.title.ljust(_TITLE - 2)
    headline = style.clipped(one_line(section.headline or WORDS[section.light]), _WIDTH - _TITLE)
    yield f"{style.mark(section.light)} {style.paint.bold(title)}{style.tint(headline, section.light)}"
    for line in section.lines:
        yield from [_row(line, style)] if line in folded else _line(line, style)


def _row(line: Line, style: Style) -> str:
    """As much of a line as fits one row."""
    code = f" [{line.code}]" if line.code else ""
    text = f"{one_line(line.label).ljust(_LABEL)} {one_line(line.text)}"
    return f"  {style.mark(line.light)} {style.clipped(text, _WIDTH - 4 - len(code))}{code}"


def _line(line: Line, style: Style) -> Iterator[str]:
    """The label, the text beside or below it, and the places."""
    label = one_line(line.label)
    text = one_line(line.text) + (f" [{line.code}]" if line.code else "")
    indent = " " * (4 + _LABEL + 1)
    first, *rest = wrapped(text, indent)
    if len(label) <= _LABEL:
        yield f"  {style.mark(line.light)} {label.ljust(_LABEL)} {first.lstrip()}"
    else:
        yield f"  {style.mark(line.light)} {label}"
        yield first
    yield from rest
    yield from _closing(line, style)
    yield from spot_lines(line, style, _SPOT_INDENT)


def spot_lines(line: Line, style: Style, indent: str) -> Iterator[str]:
    """Yield the first places of a line, and how many more there are."""
    for spot in line.spots[:_SPOTS]:
        yield indent + style.paint.faint(_spot(spot, _WIDTH - len(indent), style))
    if len(line.spots) > _SPOTS:
        yield indent + style.paint.faint(f"and {len(line.spots) - _SPOTS} more")


def _closing(line: Line, style: Style) -> Iterator[str]:
    """What turns the line green, and what settles it."""
    if line.light:
        found = [(word, text) for word, text in (("fix", line.advice), ("run", line.run)) if text]
        for word, text in found:
            yield from (style.paint.faint(one) for one in wrapped(f"{word}: {one_line(text)}", _SPOT_INDENT))


def _spot(spot: Spot, width: int, style: Style) -> str:
    """The place in full, since it is there to be clicked on, and as much of the code as fits beside it."""
    place = one_line(str(spot))
    note = f"{spot.note}: " if spot.note else ""
    code = one_line(note) + source_text(spot.source_line)
    room = width - len(place) - 2
    return f"{place}  {style.clipped(code, room)}" if code and room >= 12 else place


def _legend(style: Style) -> Iterator[str]:
    for light in sorted(Light, reverse=True):
        words = f"{WORDS[light]}:".ljust(15)
        yield f"{style.mark(light)} {style.paint.faint(f'{words}{EXPLAINED[light]}')}"


def wrapped(text: str, indent: str) -> Sequence[str]:
    """The text on lines of 80 columns; a path or a piece of code stays whole."""
    return textwrap.wrap(
        text,
        width=_WIDTH,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [indent]
