"""Python files that a notebook's cells write (`%%writefile train.py`): modules whose places are in those cells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

import msgspec

from torchlint.diagnostics import Location
from torchlint.errors import SkippedSource, UnreadableSource
from torchlint.source.notebook import Cell, code_cells
from torchlint.source.syntax import parses
from torchlint.source.text import CellSpan, Source, is_notebook, source_from_bytes

_MAGIC = re.compile(r"\s*%%(?:writefile|file)[ \t]+(?P<words>[^\n]+?)[ \t]*(?:\n|\Z)")
_APPEND = re.compile(r"(?:(?<=\s)|\A)(?:-a|--append)(?=\s|\Z)")
_HOMES = ("/content/", "/kaggle/working/")
"""Where notebooks run on Colab and Kaggle: a path below is one beside the notebook."""


class WrittenFile(msgspec.Struct, frozen=True):
    """A file as the notebook leaves it when its cells run in order."""

    path: str
    """Relative to the notebook's folder."""
    cells: tuple[tuple[int, str], ...]
    """The index of each cell that is in it, and the cell's text with the lines of the magic blank."""
    is_appended: bool = False
    """Some cell adds to what is there: to other cells, or to a file that the notebook has from elsewhere."""

    def source(self, shown: str) -> Source:
        """Its Python. `shown` is the notebook, where its places are.

        Cells that are appended make a whole, or else what no cell says alone may belong to what is not seen.
        """
        lines: list[str] = []
        spans: list[CellSpan] = []
        is_whole = not self.is_appended or parses("\n".join(text for _, text in self.cells))
        for index, text in self.cells:
            own = (text if is_whole or parses(text) else "\n" * text.count("\n")).split("\n")
            spans.append(CellSpan(index, len(lines) + 1, len(own), execution_count=None))
            lines += own
        return Source(shown, "\n".join(lines), tuple(lines), tuple(spans))


def written_files(data: bytes) -> tuple[WrittenFile, ...]:
    """The Python files that a notebook writes; none for what is not a notebook, or not of Python."""
    if b"%%writefile" not in data and b"%%file" not in data:
        return ()
    try:
        cells = code_cells(data)
    except (UnreadableSource, SkippedSource):
        return ()  # the notebook's own check says so
    return tuple(_contents(cells).values())


def sources_of(data: bytes, shown: str) -> tuple[Source, ...]:
    """What a file holds: its own code, and the files that the cells of a notebook write. Raises UnreadableSource."""
    written = written_files(data) if is_notebook(shown) else ()
    own = source_from_bytes(data, shown, notebook=is_notebook(shown))
    return (own, *(each.source(shown) for each in written))


def home_of(place: Location, sources: Sequence[Source]) -> int:
    """Which of the sources a place is in: a cell that writes a file holds nothing else."""
    written = (number for number, source in enumerate(sources) if number and _has_cell(source, place.cell))
    return next(written, 0)


def _has_cell(source: Source, cell: int | None) -> bool:
    return any(span.index == cell for span in source.cells or ())


def _contents(cells: Iterable[Cell]) -> dict[str, WrittenFile]:
    files: dict[str, WrittenFile] = {}
    for cell in cells:
        magic = _MAGIC.match(cell.text)
        target, appends = _APPEND.subn("", magic["words"]) if magic else ("", 0)
        path = _beside(target.strip())
        if magic is None or path is None:
            continue
        above = magic[0].count("\n")
        body = "\n" * above + cell.text[magic.end() :]
        kept = files[path].cells if appends and path in files else ()
        files[path] = WrittenFile(path, (*kept, (cell.index, body)), is_appended=appends > 0)
    return files


def _beside(target: str) -> str | None:
    """The path below the notebook's folder; None for other languages and for a name that is only known at run time."""
    quoted = target[:1] in "'\"" and target[-1:] == target[:1]
    name = target[1:-1] if quoted else target
    if not name.endswith(".py") or any(sign in name for sign in "{}$*"):
        return None
    for home in _HOMES:
        name = name.removeprefix(home)
    path = PurePosixPath(name)
    is_inside = not path.is_absolute() and not {"..", "~"} & set(path.parts)
    return path.as_posix() if is_inside else path.name
