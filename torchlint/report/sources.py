"""The files behind findings as they lie on disk: what tools open when they follow a finding."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from torchlint.errors import UnreadableSource
from torchlint.source.decoding import decode_python, normalised

if TYPE_CHECKING:
    from torchlint.diagnostics import Location
    from torchlint.source.notebook_places import NotebookPlaces


class Sources:
    """Reads each file once, and only when it is asked about. `contents` holds unsaved text by path."""

    def __init__(self, contents: Mapping[Path, bytes] | None = None) -> None:
        self._contents = {path.absolute(): data for path, data in (contents or {}).items()}
        self._lines: dict[str, tuple[str, ...]] = {}
        self._notebooks: dict[str, NotebookPlaces] = {}

    def in_file(self, place: Location) -> Location:
        """The same span in lines and columns of the file: of the JSON, where it is a notebook's."""
        if place.cell is None:
            return place
        notebook = self._notebook(place.path)
        line, column = notebook.place(place.cell, place.line, place.column)
        end_line, end_column = notebook.place(place.cell, place.end_line, place.end_column)
        return msgspec.structs.replace(
            place, cell=None, line=line, column=column, end_line=end_line, end_column=end_column
        )

    def in_code(self, place: Location) -> Location:
        """The same span, with a notebook's lines counted over its code cells."""
        if place.cell is None:
            return place
        above = self._notebook(place.path).code_lines_above(place.cell)
        return msgspec.structs.replace(place, cell=None, line=above + place.line, end_line=above + place.end_line)

    def in_bytes(self, place: Location) -> Location:
        """A span of the file with columns that count the bytes of UTF-8."""
        lines = self._file_lines(place.path)

        def column(line: int, column: int) -> int:
            text = lines[line - 1] if line <= len(lines) else ""
            return len(text[: column - 1].encode(errors="replace")) + max(column - 1 - len(text), 0) + 1

        return msgspec.structs.replace(
            place, column=column(place.line, place.column), end_column=column(place.end_line, place.end_column)
        )

    def _notebook(self, path: str) -> NotebookPlaces:
        if path not in self._notebooks:
            # Few reports have a finding in a notebook; the others need not load what reads it.
            from torchlint.source.notebook_places import NotebookPlaces  # noqa: PLC0415

            self._notebooks[path] = NotebookPlaces.read(self._data(path))
        return self._notebooks[path]

    def _file_lines(self, path: str) -> tuple[str, ...]:
        if path not in self._lines:
            try:
                text = normalised(decode_python(self._data(path))[0])
            except UnreadableSource:
                text = ""  # a finding says so, at a column that no decoding was asked for
            self._lines[path] = tuple(text.split("\n"))
        return self._lines[path]

    def _data(self, path: str) -> bytes:
        kept = self._contents.get(Path(path).absolute())
        if kept is not None:
            return kept
        try:
            return Path(path).read_bytes()
        except (OSError, ValueError):
            return b""  # gone since it was checked
