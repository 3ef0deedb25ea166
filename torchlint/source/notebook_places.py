"""From a line of a notebook's cell to its line in the JSON file, which is what most tools open."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from torchlint.errors import UnreadableSource
from torchlint.source.decoding import normalised
from torchlint.source.notebook import all_cells, cell_source

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]|[^\s{}\[\],:"]+')
# One character as JSON writes it; two escapes are one character where they are halves of a surrogate pair.
_CHARACTER = re.compile(r"\\u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w|\\u\w{4}|\\.|.")


class _Text(str):
    """A string of the JSON, and where it stands in the file: the offset of its first character."""

    __slots__ = ("raw", "start")
    raw: str
    start: int


class NotebookPlaces(msgspec.Struct, frozen=True):
    """Where the characters of each cell stand in the file."""

    _cells: Mapping[int, tuple[tuple[int, ...], ...]]
    """By cell and line, the offset of each character and, last, of what follows the line."""
    _code_cells: tuple[int, ...]
    _line_starts: tuple[int, ...]

    @classmethod
    def read(cls, data: bytes) -> NotebookPlaces:
        """The places of a notebook; none where the file has changed and is no notebook any more."""
        text = normalised(data.decode("utf-8-sig", "replace"))
        starts = (0, *(match.end() for match in re.finditer("\n", text)))
        try:
            json.loads(text)
            cells = dict[int, Any](enumerate(all_cells(_tree(text)), 1))
            lines = {index: _lines(cell_source(cell)) for index, cell in cells.items()}
        except (ValueError, RecursionError, AttributeError, UnreadableSource):
            return cls({}, (), starts)
        code = tuple(index for index, cell in cells.items() if cell.get("cell_type") == "code")
        return cls(lines, code, starts)

    def code_lines_above(self, cell: int) -> int:
        """How many lines the code cells before this one have."""
        return sum(len(self._cells[index]) for index in self._code_cells if index < cell)

    def place(self, cell: int, line: int, column: int) -> tuple[int, int]:
        """Line and column in the file of a line and column in a cell; what lies beyond the cell is its end."""
        lines = self._cells.get(cell, ((0,),))
        offsets = lines[min(line, len(lines)) - 1]
        offset = offsets[min(column, len(offsets)) - 1]
        row = bisect_right(self._line_starts, offset)
        return row, offset - self._line_starts[row - 1] + 1


def _lines(source: str | list[str]) -> tuple[tuple[int, ...], ...]:
    """The offsets of each line's characters, for a source that is one string or a list of them."""
    lines: list[list[int]] = [[]]
    previous = ""
    end = 0
    for piece in [source] if isinstance(source, str) else source:
        if not isinstance(piece, _Text):
            continue  # a cell without a source
        for offset, character in _characters(piece):
            if character == "\n" and previous == "\r":
                pass
            elif character in "\r\n":
                lines[-1].append(offset)
                lines.append([])
            else:
                lines[-1].append(offset)
            previous = character
        end = piece.start + len(piece.raw)
    return (*(tuple(line) for line in lines[:-1]), (*lines[-1], end))


def _characters(text: _Text) -> Iterator[tuple[int, str]]:
    for match, character in zip(_CHARACTER.finditer(text.raw), text, strict=True):
        yield text.start + match.start(), character


def _tree(text: str) -> Any:  # noqa: ANN401 - JSON
    """What `json.loads` returns, with strings that know their places."""
    root: list[object] = []
    open_ones: list[list[object] | dict[str, object]] = [root]
    keys: list[str | None] = [None]
    for token in _TOKEN.finditer(text):
        word = token[0]
        if word in "]}":
            open_ones.pop()
            keys.pop()
            continue
        value = _value(word, token.start())
        holder = open_ones[-1]
        if isinstance(holder, list):
            holder.append(value)
        elif (key := keys[-1]) is None:
            keys[-1] = str(value)
            continue
        else:
            holder[key] = value
            keys[-1] = None
        if isinstance(value, (list, dict)):
            open_ones.append(value)
            keys.append(None)
    return root[0]


def _value(word: str, offset: int) -> object:
    if word == "{":
        return {}
    if word == "[":
        return []
    if not word.startswith('"'):
        return word  # no number or literal is asked for
    text = _Text(json.loads(word))
    text.raw, text.start = word[1:-1], offset + 1
    return text
