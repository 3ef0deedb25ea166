"""Text put into the lines of a file, with every other byte as it was: line ends, encoding, a notebook's layout."""

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

_LINE_END = re.compile(r"\r\n|\r|\n")
_MARK = codecs.BOM_UTF8


class Insertion(msgspec.Struct, frozen=True):
    """Text for a line of a source, as the checks count lines and columns."""

    line: int
    column: int | None
    """None for the end of the line."""
    text: str


def inserted(data: bytes, source: Source, insertions: Iterable[Insertion]) -> bytes:
    """The file with the insertions. Raises UnreadableSource where its encoding cannot hold them."""
    mark = _MARK if data.startswith(_MARK) else b""
    body = data.removeprefix(_MARK)
    if source.cells is None:
        text, encoding = decode_python(data)
        encoding = "utf-8" if encoding == "utf-8-sig" else encoding
        offsets = _Lines(text)
        edits = [(offsets.of(each.line, _column(source, each)), each.text) for each in insertions]
    else:
        text, encoding = body.decode(), "utf-8"
        edits = _in_notebook(data, text, source, insertions)
    try:
        if text.encode(encoding) != body:
            raise UnreadableSource(f"its bytes are not its text in {encoding}")
        return mark + _edited(text, edits).encode(encoding)
    except UnicodeEncodeError as error:
        raise UnreadableSource(f"its encoding ({encoding}) has no `{error.object[error.start]}`") from None


class _Lines:
    """Where the lines of a text begin."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(text))]

    def of(self, line: int, column: int) -> int:
        return self._starts[line - 1] + column - 1


def _column(source: Source, insertion: Insertion) -> int:
    return len(source.lines[insertion.line - 1]) + 1 if insertion.column is None else insertion.column


def _in_notebook(data: bytes, text: str, source: Source, insertions: Iterable[Insertion]) -> list[tuple[int, str]]:
    """Insertions into the JSON strings that hold the cells."""
    places = NotebookPlaces.read(data)
    offsets = _Lines(text)
    edits = []
    for each in insertions:
        place = source.locate(each.line, each.column or 1, each.line, each.column or 1)
        assert place.cell is not None
        column = sys.maxsize if each.column is None else place.column  # beyond the line is its end
        edits.append((offsets.of(*places.place(place.cell, place.line, column)), json.dumps(each.text)[1:-1]))
    return edits


def _edited(text: str, edits: Iterable[tuple[int, str]]) -> str:
    pieces = []
    end = 0
    for offset, addition in sorted(edits):
        pieces += [text[end:offset], addition]
        end = offset
    return "".join([*pieces, text[end:]])
