"""The files that notebooks write with `%%writefile`, as files of the project."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

import msgspec

from torchlint.source.text import LARGEST_NOTEBOOK, is_notebook
from torchlint.source.written_files import WrittenFile, written_files


class NotebookFile(msgspec.Struct, frozen=True):
    """A file that exists once its notebook has run."""

    notebook: str
    """Below the root."""
    written: WrittenFile


def notebook_files(
    root: Path, paths: Iterable[str], contents: Mapping[str, bytes], *, are_alone: bool = False
) -> dict[str, NotebookFile]:
    """By their paths below the root. `contents` holds unsaved text.

    A file that is there on disk is checked as it is there, unless the notebooks are alone and nothing else of the disk
    counts. Where two notebooks write one file, the module of that name is the first's; the other's is checked as well,
    and no other file imports it.
    """
    found: dict[str, NotebookFile] = {}
    for notebook in sorted(path for path in paths if is_notebook(path)):
        for written in written_files(_data(root / notebook, contents.get(notebook))):
            path = (PurePosixPath(notebook).parent / written.path).as_posix()
            if path in contents or (not are_alone and (root / path).exists()):
                continue
            if path in found:
                path = f"{notebook}/{written.path}"
            found[path] = NotebookFile(notebook, written)
    return found


def _data(path: Path, unsaved: bytes | None) -> bytes:
    if unsaved is not None:
        return unsaved
    try:
        return path.read_bytes() if path.stat().st_size <= LARGEST_NOTEBOOK else b""
    except (OSError, ValueError):
        return b""  # the notebook's own check says so
