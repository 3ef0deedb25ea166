"""The text of one file or notebook, and the way from its lines back to what the user sees."""

from __future__ import annotations

import bisect
import functools
import os
from pathlib import Path

import msgspec

from torchlint.diagnostics import Location
from torchlint.errors import SkippedSource, UnreadableSource
from torchlint.source.decoding import decode_python, normalised

LARGEST_NOTEBOOK = 128 * 1024 * 1024
"""Bytes of a notebook with all its pictures: beyond, reading the JSON would cost gigabytes of memory."""


class CellSpan(msgspec.Struct, frozen=True):
    """Where one code cell of a notebook lies in the joined text."""

    index: int
    """From 1, among all cells of the notebook."""
    first_line: int
    line_count: int
    execution_count: int | None
    indent: int = 0
    """Columns taken off each line, as IPython does with a cell that is indented as a whole."""


class Problem(msgspec.Struct, frozen=True):
    """A cell that does not parse; its lines are blank in the joined text."""

    reason: str
    line: int
    column: int


class EnvironmentSetting(msgspec.Struct, frozen=True):
    """A variable that a notebook sets by magic rather than by Python."""

    name: str
    value: str
    line: int
    in_process: bool
    """False for `!export` and shell cells: these reach only a child shell, never the notebook's interpreter."""


class Source(msgspec.Struct, frozen=True):
    """One file as the checks see it. `lines` are `text` split at newlines, the only line ends left in it."""

    path: str
    text: str
    lines: tuple[str, ...]
    cells: tuple[CellSpan, ...] | None = None
    problems: tuple[Problem, ...] = ()
    environment: tuple[EnvironmentSetting, ...] = ()
    skipped: tuple[tuple[int, str], ...] = ()
    """Cells of a notebook that are not checked, each with the reason; their lines are blank in the joined text."""

    @property
    def is_run_out_of_order(self) -> bool:
        """Whether a notebook's execution counts say that its cells ran in another order than they stand."""
        counts = [cell.execution_count for cell in self.cells or () if cell.execution_count is not None]
        return counts != sorted(counts)

    @property
    def places(self) -> tuple[tuple[int | None, int], ...]:
        """The cell of each line of the joined text, and the line in that cell; empty where there are no cells."""
        if not self.cells:
            return ()
        located = (self.locate(line, 1, line, 1) for line in range(1, len(self.lines) + 1))
        return tuple((place.cell, place.line) for place in located)

    def mentions(self, *words: str) -> bool:
        """Whether the text holds one of these words, in whatever case; they are given in small letters."""
        known = distinct_words(self.text)
        return any(word in (known if word.isidentifier() else small_letters(self.text)) for word in words)

    def locate(self, line: int, column: int, end_line: int, end_column: int) -> Location:
        """What the user calls a span of the joined text. A span that leaves its cell ends with the cell."""
        if not self.cells:
            return Location(self.path, None, line, column, end_line, end_column)
        position = bisect.bisect_right(self.cells, line, key=lambda cell: cell.first_line) - 1
        cell = self.cells[max(position, 0)]
        last = cell.first_line + cell.line_count - 1
        if end_line > last:
            end_line, end_column = last, len(self.lines[last - 1]) + 1
        above = cell.first_line - 1
        start, end = max(line - above, 1), max(end_line - above, 1)
        return Location(self.path, cell.index, start, column + cell.indent, end, end_column + cell.indent)

    def joined_line(self, place: Location) -> int:
        """The line of the joined text on which a place of this file begins."""
        above = next((cell.first_line - 1 for cell in self.cells or () if cell.index == place.cell), 0)
        return above + place.line


_WORDS = bytes(
    code if code > 127 else ord(chr(code).lower()) if f"_{chr(code)}".isidentifier() else 32 for code in range(256)
)
"""For each byte of a text its small letter, or a space for what parts words."""


@functools.lru_cache(maxsize=4)
def small_letters(text: str) -> str:
    """A whole text in small letters."""
    return text.lower()


@functools.lru_cache(maxsize=4)
def distinct_words(text: str) -> str:
    """Each word of a text once, in small letters and in any order: a file is asked for seventy of them.

    >>> sorted(distinct_words("CUDA = cuda.is_available()").split())
    ['cuda', 'is_available']
    """
    words = set(text.encode(errors="surrogatepass").translate(_WORDS).split())
    return b" ".join(words).decode(errors="surrogatepass")


def is_notebook(path: str) -> bool:
    """Whether a file is read as a notebook: its suffix says so."""
    return path.lower().endswith(".ipynb")


def read_source(path: Path, shown: str, *, largest: int | None = None) -> Source:
    """Read a Python file or, by its suffix, a notebook. Raises UnreadableSource.

    Python code of more than `largest` bytes is refused with SkippedSource; pictures in a notebook do not count.
    """
    notebook = is_notebook(path.name)
    try:
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - pathlib is slow here, and every file passes
            _refuse_large_file(os.fstat(file.fileno()).st_size, largest, notebook=notebook)
            data = file.read()
    except OSError as error:
        raise UnreadableSource(f"cannot be read: {error.strerror or error}") from None
    except ValueError as error:  # a null character in the path
        raise UnreadableSource(f"cannot be read: {error}") from None
    return source_from_bytes(data, shown, notebook=notebook, largest=largest)


def source_from_bytes(data: bytes, shown: str, *, notebook: bool, largest: int | None = None) -> Source:
    """The source that the bytes of a file hold. Raises UnreadableSource as `read_source` does."""
    _refuse_large_file(len(data), largest, notebook=notebook)
    if notebook:
        # Few runs meet a notebook; the others need not load what reads it.
        from torchlint.source.notebook import read_notebook  # noqa: PLC0415

        return read_notebook(data, shown, largest=largest)
    return source_from_text(decode_python(data)[0], shown)


def _refuse_large_file(size: int, largest: int | None, *, notebook: bool) -> None:
    if largest is None:
        return
    if not notebook and size > largest:
        raise SkippedSource(f"{size:,} bytes is above max-file-size ({largest:,})")
    if notebook and size > max(largest, LARGEST_NOTEBOOK):
        raise SkippedSource(f"{size:,} bytes is more than any notebook that is read ({LARGEST_NOTEBOOK:,})")


def source_from_text(text: str, shown: str) -> Source:
    """Python text that is in memory already."""
    text = normalised(text)
    return Source(shown, text, tuple(text.split("\n")))
