"""What is open at one moment: files and notebooks, as the engine takes them."""

from __future__ import annotations

import functools
import json
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.uris import to_fs_path
from pygls.workspace import TextDocument, Workspace

from torchlint.errors import UnreadableSource
from torchlint.server.texts import bytes_of_text
from torchlint.source.notebook import all_cells, cell_source
from torchlint.source.text import is_notebook

_SUFFIXES = (".py", ".pyw", ".ipynb")
_PYTHON = "python"
_LONGEST = 80
"""Letters of a name for what has none."""


@dataclass(frozen=True)
class Part:
    """A text that the editor shows: a file, or one cell of a notebook."""

    uri: str
    version: int | None
    text: str
    is_code: bool = True
    language: str = _PYTHON


@dataclass(frozen=True)
class OpenFile:
    """A file or notebook that is open. `has_place` is false for one that was never saved: its path is only a name."""

    path: Path
    has_place: bool
    parts: tuple[Part, ...]
    has_cells: bool = False
    """Whether the parts are the cells of a notebook; one that is open as its JSON is a single part."""

    @functools.cached_property
    def data(self) -> bytes:
        """The bytes that the editor would save."""
        return _notebook(self.parts) if self.has_cells else bytes_of_text(self.parts[0].text)

    @functools.cached_property
    def is_unsaved(self) -> bool:
        """Whether the file on disk holds something else; of a notebook, whether other cells."""
        try:
            data = self.path.read_bytes()
            return cell_sources(json.loads(data)) != self._sources if self.has_cells else data != self.data
        except (OSError, ValueError, AttributeError, UnreadableSource):
            return True

    @property
    def _sources(self) -> list[str]:
        return [part.text for part in self.parts]


def open_files(workspace: Workspace) -> list[OpenFile]:
    """All Python files and notebooks that are open, sorted by path."""
    return sorted(_open_files(workspace), key=lambda file: (file.path, file.parts[0].uri if file.parts else ""))


def _open_files(workspace: Workspace) -> Iterator[OpenFile]:
    cells = set()
    for notebook in workspace.notebook_documents.values():
        cells |= {cell.document for cell in notebook.cells}
        parts = tuple(_cell(workspace.get_text_document(cell.document), cell) for cell in notebook.cells)
        yield OpenFile(*_place(notebook.uri, ".ipynb"), parts, has_cells=True)
    for text in workspace.text_documents.values():
        if text.uri not in cells and (text.language_id == _PYTHON or text.uri.lower().endswith(_SUFFIXES)):
            yield OpenFile(*_place(text.uri, ".py"), (Part(text.uri, text.version, text.source),))


def _place(uri: str, suffix: str) -> tuple[Path, bool]:
    """`untitled:Untitled-1` becomes a name that holds nothing a path could mean."""
    path = to_fs_path(uri)
    if path is not None and _may_exist(path):
        return Path(path), True
    name = "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in uri.partition(":")[2])
    return Path(f"{name.strip('_')[:_LONGEST] or 'untitled'}{suffix}"), False


def _may_exist(path: str) -> bool:
    """Whether there can be a file of this name, be it not there or not to be read."""
    try:
        return not stat.S_ISDIR(Path(path).stat().st_mode)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return True
    except (OSError, ValueError):
        return False


def _cell(text: TextDocument, cell: types.NotebookCell) -> Part:
    is_code = cell.kind == types.NotebookCellKind.Code
    return Part(text.uri, text.version, text.source, is_code, text.language_id or _PYTHON)


def _notebook(cells: tuple[Part, ...]) -> bytes:
    written = [
        {
            "cell_type": "code" if cell.is_code else "markdown",
            "metadata": {} if cell.language == _PYTHON else {"vscode": {"languageId": cell.language}},
            "source": cell.text,
        }
        for cell in cells
    ]
    return json.dumps({"cells": written, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def cell_sources(notebook: Any) -> list[str]:  # noqa: ANN401 - JSON
    """What the cells of a notebook hold, in order. Raises AttributeError or UnreadableSource for what is none."""
    return ["".join(cell_source(cell)) for cell in all_cells(notebook)]


def is_json_of_notebook(file: OpenFile) -> bool:
    """Whether a notebook is open as the text of its file."""
    return not file.has_cells and is_notebook(str(file.path))
