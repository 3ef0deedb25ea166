"""Text put into a file, with every other byte as it was: line ends, encoding, a notebook's layout."""

from __future__ import annotations

import codecs
import json
import re
import sys
from collections.abc import Iterable

import msgspec

from torchlint.errors import UnreadableSource
from torchlint.source.decoding import decode_python
from torchlint.source.notebook_places import NotebookPlaces
from torchlint.source.text import Source

LINE_END = sys.maxsize
"""The column after the last character of a line, however long it is."""
_LINE_END = re.compile(r"\r\n|\r|\n")
_MARK = codecs.BOM_UTF8
_BETWEEN_LINES = re.compile(r'\\n("\s*,\s*")')
_FIRST_LINE = re.compile(r'\[(\s*)"\Z')


class Replacement(msgspec.Struct, frozen=True, order=True):
    """Text in the place of a span of a source; an empty span is an insertion.

    Lines and columns count from 1, as the checks count them; the end column is exclusive.
    """

    line: int
    column: int
    end_line: int
    end_column: int
    text: str

    @property
    def start(self) -> tuple[int, int]:
        return self.line, self.column

    @property
    def end(self) -> tuple[int, int]:
        return self.end_line, self.end_column


def insertion(line: int, column: int, text: str) -> Replacement:
    """Text that takes no other's place: `insertion(3, LINE_END, "  # why")`."""
    return Replacement(line, column, line, column, text)


def edited(data: bytes, source: Source, replacements: Iterable[Replacement]) -> bytes:
    """The file with other text in places that do not overlap. Raises UnreadableSource where that cannot be written.

    Insertions into one place stand in the order in which they are given.
    """
    mark = _MARK if data.startswith(_MARK) else b""
    body = data.removeprefix(_MARK)
    if source.cells is None:
        text, encoding = decode_python(data)
        encoding = "utf-8" if encoding == "utf-8-sig" else encoding
        edits = _in_text(text, replacements)
    else:
        text, encoding = body.decode(), "utf-8"
        edits = _in_notebook(data, text, source, replacements)
    try:
        if text.encode(encoding) != body:
            raise UnreadableSource(f"its bytes are not its text in {encoding}")
        return mark + _spliced(text, edits).encode(encoding)
    except UnicodeEncodeError as error:
        raise UnreadableSource(f"its encoding ({encoding}) has no `{error.object[error.start]}`") from None


def edited_text(source: Source, replacements: Iterable[Replacement]) -> str:
    """What is read of the file once it is edited."""
    return _spliced(source.text, _in_text(source.text, replacements))


_Edit = tuple[int, int, str]
"""Two offsets, and what stands between them from now on."""


class _Lines:
    """Where the lines of a text begin and end, and how they end."""

    def __init__(self, text: str) -> None:
        ends = [*_LINE_END.finditer(text)]
        self._starts = [0, *(match.end() for match in ends)]
        self._stops = [*(match.start() for match in ends), len(text)]
        self._usual = ends[0][0] if ends else "\n"
        self._line_ends = [match[0] for match in ends]

    def of(self, line: int, column: int) -> int:
        start = self._starts[line - 1]
        return min(start + column - 1, self._stops[line - 1])

    def end_of(self, line: int) -> str:
        """The characters that end a line; those of the first, for the last."""
        return self._line_ends[line - 1] if line <= len(self._line_ends) else self._usual


def _in_text(text: str, replacements: Iterable[Replacement]) -> list[_Edit]:
    offsets = _Lines(text)
    return [
        (offsets.of(*each.start), offsets.of(*each.end), each.text.replace("\n", offsets.end_of(each.line)))
        for each in replacements
    ]


def _in_notebook(data: bytes, text: str, source: Source, replacements: Iterable[Replacement]) -> list[_Edit]:
    """Edits of the JSON strings that hold the cells, which may be a string a line."""
    places = NotebookPlaces.read(data)
    offsets = _Lines(text)

    def offset(line: int, column: int) -> int:
        place = source.locate(line, 1 if column == LINE_END else column, line, 1)
        assert place.cell is not None
        return offsets.of(*places.place(place.cell, place.line, column if column == LINE_END else place.column))

    edits = []
    for each in replacements:
        start, end = offset(*each.start), offset(*each.end)
        written = json.dumps(each.text)[1:-1]
        if "\n" in each.text:
            first = offset(each.line, 1)
            # Of a cell that is indented as a whole the first column lies behind the indent.
            written = written.replace("\\n", f"\\n{_between(text, first, offset(each.line, LINE_END))}")
        edits.append((start, end, written))
    return edits


def _between(text: str, first: int, last: int) -> str:
    """What a notebook writes between two lines of a cell: nothing where the cell is one string.

    The line at hand begins and ends at these offsets.
    """
    below = _BETWEEN_LINES.match(text, last)
    if below is not None:
        return below[1]
    opening = text.rfind('"', 0, first)
    above = _FIRST_LINE.search(text, 0, opening + 1)
    if above is not None:
        return f'",{above[1]}"' if above[1] or '": "' not in text else '", "'
    upper = re.search(r'\\n("\s*,\s*")\Z', text[max(opening - 400, 0) : opening + 1])
    return "" if upper is None else upper[1]


def _spliced(text: str, edits: Iterable[_Edit]) -> str:
    pieces = []
    end = 0
    for start, stop, addition in sorted(edits, key=lambda edit: edit[:2]):
        pieces += [text[end:start], addition]
        end = stop
    return "".join([*pieces, text[end:]])
