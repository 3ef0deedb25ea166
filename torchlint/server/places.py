"""From a place of the engine to the editor's: another URI, lines from 0, columns in the client's own units."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from lsprotocol import types
from pygls.uris import from_fs_path
from pygls.workspace import PositionCodec

from torchlint.diagnostics import Location
from torchlint.errors import UnreadableSource
from torchlint.report.sources import Sources
from torchlint.server.opened import OpenFile, Part, is_json_of_notebook
from torchlint.source.decoding import decode_python, normalised


class Places:
    """The places of one check. Files that are not open are read where a place leads there."""

    def __init__(self, files: Iterable[OpenFile], codec: PositionCodec) -> None:
        self._codec = codec
        self._files = {os.fspath(file.path): file for file in files}
        self._sources = Sources({file.path: file.data for file in self._files.values()})
        self._lines: dict[str, Sequence[str]] = {}

    def file_of(self, location: Location) -> OpenFile | None:
        """The open file that a place lies in."""
        return self._files.get(location.path) or self._files.get(_full(location.path))

    def of(self, location: Location) -> types.Location:
        """The place as the editor knows it.

        `nb.ipynb:cell 3:4:1` is line 3 of the third cell where the notebook is open, and else a line of its JSON.
        """
        file = self.file_of(location)
        if file is None or is_json_of_notebook(file):
            location = self._sources.in_file(location)
        part = None if file is None else part_of(file, location)
        uri = part.uri if part is not None else str(from_fs_path(_full(location.path)))
        lines = self._lines_of(uri, location.path, part)
        start = self._position(lines, location.line, location.column)
        end = self._position(lines, location.end_line, location.end_column)
        return types.Location(uri, types.Range(start, end))

    def position(self, text: str, line: int, column: int) -> types.Position:
        """A position in a text, from a line and a column that count from 1."""
        return self._position(normalised(text).split("\n"), line, column)

    def _position(self, lines: Sequence[str], line: int, column: int) -> types.Position:
        text = lines[line - 1] if line <= len(lines) else ""
        before = text[: column - 1]
        units = len(before) if before.isascii() else self._codec.client_num_units(before)
        return types.Position(line - 1, units)

    def _lines_of(self, uri: str, path: str, part: Part | None) -> Sequence[str]:
        if uri not in self._lines:
            text = _text_on_disk(Path(path)) if part is None else part.text
            self._lines[uri] = normalised(text).split("\n")
        return self._lines[uri]


def part_of(file: OpenFile, location: Location) -> Part | None:
    """The text that shows a place: of a notebook the cell; None for a cell that it does not have."""
    number = location.cell if file.has_cells else 1
    return file.parts[number - 1] if number is not None and number <= len(file.parts) else None


def _full(path: str) -> str:
    return os.path.abspath(path)  # noqa: PTH100 - `resolve` would follow links, and the editor has not


def _text_on_disk(path: Path) -> str:
    try:
        data = path.read_bytes()
        return data.decode() if path.suffix == ".ipynb" else decode_python(data)[0]
    except (OSError, ValueError, UnreadableSource):
        return ""  # then columns are left as they are
