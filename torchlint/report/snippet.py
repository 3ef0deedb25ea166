"""A source line with a caret span under it, whatever the line is made of."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

TAB = 4
"""Spaces shown for a tab."""
WIDTH = 100
"""Terminal columns shown of a line; a longer one is clipped around the caret."""

_LEAD = 30
"""Columns kept before the caret of a clipped line."""
_CUT = "…"


@dataclass(frozen=True, slots=True)
class Snippet:
    """What to print: the line and, column for column under it, the marks."""

    line: str
    marks: str


def make_snippet(source_line: str, column: int, end_column: int | None) -> Snippet:
    """Draw the line with `^` under the code points from `column` (from 1) to `end_column` (exclusive).

    `end_column` None marks to the end of the line. Columns outside the line are drawn at its end.
    """
    line = source_line.rstrip()
    start = min(max(column - 1, 0), len(line))
    end = len(line) if end_column is None else min(max(end_column - 1, start), len(line))
    cells = [_cell(char) for char in line]
    first, last = _between_words(line, _window(cells, start), start, end)
    head = _CUT if first > 0 else ""
    tail = _CUT if last < len(cells) else ""
    before = _width("".join(cells[first:start])) + len(head)
    marked = max(1, _width("".join(cells[start : min(end, last)])))
    return Snippet(head + "".join(cells[first:last]) + tail, " " * before + "^" * marked)


def _window(cells: list[str], start: int) -> tuple[int, int]:
    """The range of characters shown: the whole line when it fits, else the surroundings of `start`."""
    if _width("".join(cells)) <= WIDTH:
        return 0, len(cells)
    first, room = start, _LEAD
    while first > 0 and _width(cells[first - 1]) <= room:
        first -= 1
        room -= _width(cells[first])
    room = WIDTH - (_LEAD - room)
    last = start
    while last < len(cells) and _width(cells[last]) <= room:
        room -= _width(cells[last])
        last += 1
    while first > 0 and _width(cells[first - 1]) <= room:
        first -= 1
        room -= _width(cells[first])
    return first, last


def _between_words(line: str, window: tuple[int, int], start: int, end: int) -> tuple[int, int]:
    """The window without the words that its ends would cut, as far as others are left beside the caret."""
    first, last = window
    head = re.match(r"\w+", line[first:start]) if re.fullmatch(r"\w\w", line[max(first - 1, 0) : first + 1]) else None
    tail = re.search(r"\w+$", line[end:last]) if re.fullmatch(r"\w\w", line[last - 1 : last + 1]) else None
    if head is not None and first + head.end() < start:
        first += head.end()
    if tail is not None and tail.start() > 0:
        last = end + tail.start()
    return first, last


def _cell(char: str) -> str:
    """What stands for one character of the source: tabs become spaces, what is invisible becomes visible."""
    if char == "\t":
        return " " * TAB
    if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
        return "\N{REPLACEMENT CHARACTER}"
    return char


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(_char_width(char) for char in text)


def _char_width(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1
