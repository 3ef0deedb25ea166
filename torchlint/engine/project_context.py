"""What a worker process does with one file of a project, and all that it needs for that."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from torchlint.catalogue import Catalogue
from torchlint.catalogue.load import Extensions
from torchlint.config import Settings
from torchlint.diagnostics import InternalError
from torchlint.engine.analysis import (
    AnalysisContext,
    FileResult,
    analyse,
    analysis_context,
    read_facts,
    read_syntax,
    skipped_file,
    summary_of,
    unreadable_file,
)
from torchlint.engine.named_libraries import NamedLibraries
from torchlint.engine.notebook_files import NotebookFile
from torchlint.errors import SkippedSource, UnreadableSource
from torchlint.facts.file import FileFacts
from torchlint.project.configurations import SUFFIXES
from torchlint.project.modules import ModuleIndex
from torchlint.project.shown import shown_path
from torchlint.source.text import Source, is_notebook, read_source, source_from_bytes

_MOST_FILES = 50_000
"""Above this, program-wide facts cost more than they tell."""


@dataclass(frozen=True, slots=True)
class Job:
    """One file to read: to check it, or (`summary_only`) for what its project asks about it."""

    path: str
    summary_only: bool = False


@dataclass(frozen=True, slots=True)
class ProjectContext:
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

    def work(self, job: Job) -> FileResult:
        state = process_state_of(self)
        return state.summary(job.path) if job.summary_only else state.check(job.path)

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
        error = InternalError("parser", self.shown(job.path), "the process died while reading this file")
        return FileResult(job.path, error.path, internal_errors=(error,))


class ProcessState:
    """The context of a project at work in one process: the tables built, the modules at hand."""

    def __init__(self, context: ProjectContext) -> None:
        self.context = context
        self._is_concerned: bool | None = None
        self.tools: AnalysisContext = analysis_context(context.catalogue, context.settings)
        self.modules = ModuleIndex(
            context.paths,
            context.root.name,
            self._load,
            context.sources,
            tuple(path for path in context.beside if path.suffix in SUFFIXES),
        )

    def concerns(self, first: str) -> bool:
        """Whether the project names a library that is known, or has rules of the user's own; `first` is read first."""
        if self._is_concerned is None:
            self._is_concerned = self.context.settings.extensions != Extensions() or self._names_library(first)
        return self._is_concerned

    def _names_library(self, first: str) -> bool:
        context, named = self.context, NamedLibraries(self.context.catalogue)
        texts = itertools.chain([(first, context.read(first))], context.sources())
        sources = (named.are_in(data) or (not data and context.is_too_large(path)) for path, data in texts)
        return any(sources) or any(named.are_in(bytes_of(path)) for path in context.beside)

    def source(self, path: str) -> Source:
        shown = self.context.shown(path)
        if path in self.context.written:
            return self.context.written[path].written.source(shown)
        data = self.context.contents.get(path)
        largest = self.context.settings.max_file_size
        if data is not None:
            return source_from_bytes(data, shown, notebook=is_notebook(path), largest=largest)
        return read_source(self.context.root / path, shown, largest=largest)

    def _load(self, path: str, modules: ModuleIndex) -> FileFacts | None:
        try:
            return read_facts(path, self.source(path), self.tools, modules.asked_by(path))
        except (UnreadableSource, RecursionError):
            return None  # the file's own check says so

    def facts(self, path: str) -> FileFacts | None:
        """The whole facts of a file, read anew; None for one that cannot be read."""
        return self._load(path, self.modules)

    def check(self, path: str) -> FileResult:
        shown = self.context.shown(path)
        try:
            if not self.concerns(path):
                return read_syntax(path, self.source(path))
            return analyse(path, self.source(path), self.tools, self.modules)
        except SkippedSource as error:
            return skipped_file(path, shown, error)
        except UnreadableSource as error:
            return unreadable_file(path, shown, error)
        except Exception as error:  # noqa: BLE001 - one bad file must not take the others down; it is reported
            return _broken(path, shown, error)

    def summary(self, path: str) -> FileResult:
        shown = self.context.shown(path)
        try:
            modules = self.modules.asked_by(path)
            facts = self.modules.take(path) or read_facts(path, self.source(path), self.tools, modules)
            summary = summary_of(facts, self.tools, is_notebook=is_notebook(path))
        except (UnreadableSource, RecursionError):
            return FileResult(path, shown)  # not asked about, and nothing to learn from it
        except Exception as error:  # noqa: BLE001 - a file nobody asked about must not take the others down either
            return _broken(path, shown, error)
        self.modules.put_back(facts)
        return FileResult(path, shown, summary=summary, consulted=self.modules.consulted_by(path))


def bytes_of(path: Path) -> bytes:
    """The bytes of a file; one that cannot be read says nothing."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _broken(path: str, shown: str, error: Exception) -> FileResult:
    """A file that the engine itself failed on."""
    return FileResult(
        path, shown, internal_errors=(InternalError("engine", shown, f"{type(error).__name__}: {error}"),)
    )


_states: dict[int, tuple[ProjectContext, ProcessState]] = {}


def process_state_of(context: ProjectContext) -> ProcessState:
    """One state for each context and process, kept for the whole run."""
    kept = _states.get(id(context))
    if kept is None or kept[0] is not context:
        _states.clear()
        kept = _states[id(context)] = (context, ProcessState(context))
    return kept[1]
