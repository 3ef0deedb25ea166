"""What a process needs to do its jobs on a project: plain data, so that it travels."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from torchlint.catalogue import Catalogue
from torchlint.config import Settings
from torchlint.diagnostics import InternalError
from torchlint.engine.notebook_files import NotebookFile
from torchlint.project.shown import shown_path

if TYPE_CHECKING:
    from torchlint.engine.analysis import FileResult


class Job(msgspec.Struct, frozen=True):
    """One file to read: to check it, or (`summary_only`) for what its project asks about it."""

    path: str
    summary_only: bool = False


class Case(msgspec.Struct, frozen=True):
    """One file to judge, when all files of the project have been checked."""

    path: str


class ProjectContext(msgspec.Struct, frozen=True):
    """What a worker process needs to do a job; plain data, so that it travels."""

    root: Path
    settings: Settings
    catalogue: Catalogue
    paths: tuple[str, ...]
    """Every file of the project, relative to the root."""
    contents: Mapping[str, bytes]
    """Unsaved text, by path."""
    written: Mapping[str, NotebookFile]
    """What notebooks write, by path."""
    beside: tuple[Path, ...] = ()
    """The files of the project that are no sources: manifests, scripts, configurations."""
    is_kept: bool = False
    """Whether a cache takes the results: it needs what they hang on."""
    is_shared: bool = False
    """Whether other processes hear of them: they need what others read of each file."""

    def work(self, job: Job) -> FileResult:
        from torchlint.engine.process_state import process_state_of  # noqa: PLC0415 - a kept report is told without

        state = process_state_of(self)
        return state.summary(job.path) if job.summary_only else state.check(job.path)

    def begin(self, paths: Sequence[str]) -> list[tuple[str, bytes]]:
        """Read files before they are checked, as many as stay at hand, for what other processes need of them."""
        from torchlint.engine.process_state import process_state_of  # noqa: PLC0415 - as in `work`

        return process_state_of(self).interfaces_of(paths)

    def told(self, result: FileResult) -> list[tuple[str, bytes]]:
        """What processes that have not read a file need of it, unless they know it already."""
        from torchlint.engine.process_state import process_state_of  # noqa: PLC0415 - as in `work`

        reading, known = result.reading, process_state_of(self).modules.interfaces
        return [] if reading is None or result.path in known else [(result.path, reading.interface)]

    def hear(self, told: Sequence[tuple[str, bytes]]) -> None:
        """Others have read these files."""
        from torchlint.engine.process_state import process_state_of  # noqa: PLC0415 - as in `work`

        process_state_of(self).modules.interfaces.update(told)

    def size(self, path: str) -> int:
        """About how much there is to read: bytes."""
        try:
            return os.stat(os.path.join(self.root, path)).st_size  # noqa: PTH116, PTH118 - every file passes
        except OSError:
            return len(self.contents.get(path, b""))

    def shown(self, path: str) -> str:
        """The file that the user opens to see the text of a path."""
        held = self.written.get(path)
        return shown_path(self.root, path if held is None else held.notebook)

    def sources(self) -> Iterator[tuple[str, bytes]]:
        """Every source of the project, by path."""
        for path in self.paths:
            yield path, self.read(path)

    def is_too_large(self, path: str) -> bool:
        """Whether `read` gives nothing of a file because of its size."""
        try:
            return (self.root / path).stat().st_size > self.settings.max_file_size
        except OSError:
            return False

    def read(self, path: str) -> bytes:
        """The bytes of a file; a file that cannot be read, or is too large, says nothing."""
        if path in self.written:
            return self.written[path].written.source("").text.encode(errors="surrogatepass")
        if path in self.contents:
            return self.contents[path]
        try:
            # pathlib is slow here, and every file passes, some several times
            with open(os.path.join(self.root, path), "rb", buffering=0) as file:  # noqa: PTH118, PTH123
                return file.read() if os.fstat(file.fileno()).st_size <= self.settings.max_file_size else b""
        except OSError:
            return b""

    def on_death(self, job: Job) -> FileResult:
        """The process that read this file died."""
        from torchlint.engine.analysis import FileResult  # noqa: PLC0415 - likewise

        error = InternalError("parser", self.shown(job.path), "the process died while reading this file")
        return FileResult(job.path, error.path, internal_errors=(error,))


def bytes_of(path: Path) -> bytes:
    """The bytes of a file; one that cannot be read says nothing."""
    try:
        return path.read_bytes()
    except OSError:
        return b""
