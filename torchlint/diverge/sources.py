"""Lines of stacks as a user knows them: relative to here, with their text, and cell and line of a notebook."""

from __future__ import annotations

import linecache
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from torchlint.diverge.data import Source
from torchlint.diverge.recordings import Stack
from torchlint.project.shown import shown_path

_OF_LIBRARY = re.compile(
    r"[/\\](?:site-packages|dist-packages|lib[/\\]python3[^/\\]*)[/\\]|^<|[/\\]runpy\.py$", re.IGNORECASE
)
_OF_KERNEL = re.compile(r"[/\\]ipykernel_\d+[/\\](?P<name>\d+)\.py$")


@dataclass(frozen=True)
class Cell:
    """A code cell of a notebook."""

    path: str
    number: int
    """Among all cells, from 1."""
    text: str


@dataclass(frozen=True)
class Sources:
    """Turns lines of stacks into what is shown. `cells` are those of a notebook that is run, by their names there."""

    folder: Path
    """Where the command ran: relative names start there."""
    cells: Mapping[str, Cell] = field(default_factory=dict)

    def of(self, stack: Stack) -> tuple[Source, ...]:
        """The lines of the project, innermost first; those of libraries where there are no others."""
        own = [each for each in stack if not _OF_LIBRARY.search(each[0]) or _OF_KERNEL.search(each[0])]
        shown = [self._source(path, line) for path, line in own or stack]
        return tuple(dict.fromkeys(shown))

    def path_of(self, source: Source) -> Path:
        """The file, in full."""
        return (self.folder / source.path).resolve()

    def _source(self, path: str, line: int) -> Source:
        found = _OF_KERNEL.search(path)
        cell = self.cells.get(found["name"]) if found else None
        if cell is not None:
            lines = cell.text.splitlines()
            text = lines[line - 1] if 0 < line <= len(lines) else ""
            return Source(cell.path, line, cell.number, text.strip())
        full = os.path.normpath(os.path.join(self.folder, path))  # noqa: PTH118 - a text, and links stay as they are
        return Source(shown_path(self.folder, full), line, None, linecache.getline(full, line).strip())
