"""The context of a project at work in one process: what it does with one file."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Sequence

from msgspec.structs import replace

from torchlint.catalogue.load import Extensions
from torchlint.diagnostics import InternalError
from torchlint.engine.analysis import (
    AnalysisContext,
    FileResult,
    analyse,
    analysis_context,
    read_facts,
    read_syntax,
    reading_of,
    skipped_file,
    summary_of,
    unreadable_file,
)
from torchlint.engine.named_libraries import NamedLibraries
from torchlint.engine.project_context import ProjectContext, bytes_of
from torchlint.errors import SkippedSource, UnreadableSource
from torchlint.facts.exports import exports_of
from torchlint.facts.file import FileFacts
from torchlint.project.configurations import SUFFIXES
from torchlint.project.modules import ModuleIndex
from torchlint.source.text import Source, is_notebook, read_source, source_from_bytes, source_from_text


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

    def _load(self, path: str, interface: str | None, modules: ModuleIndex) -> FileFacts | None:
        try:
            source = self.source(path) if interface is None else source_from_text(interface, self.context.shown(path))
            return read_facts(path, source, self.tools, modules.asked_by(path))
        except (UnreadableSource, RecursionError):
            return None  # the file's own check says so

    def facts(self, path: str) -> FileFacts | None:
        """The whole facts of a file; None for one that cannot be read."""
        return self.modules.read(path)

    def interfaces_of(self, paths: Sequence[str]) -> list[tuple[str, bytes]]:
        """What others read of files, of as many as have room for their trees until they are checked."""
        found: list[tuple[str, bytes]] = []
        modules = [path for path in paths if path in self.modules.paths]
        for path in modules if modules and self.concerns(modules[0]) else ():
            if not self.modules.has_room:
                break
            with contextlib.suppress(Exception):  # the file's own check says so
                facts = self.modules.read(path)
                found += [] if facts is None else [(path, self.modules.interface_of(facts))]
        return found

    def check(self, path: str) -> FileResult:
        shown = self.context.shown(path)
        try:
            if not self.concerns(path):
                return read_syntax(path, self.source(path))
            known = self.modules.at_hand(path)
            source = self.source(path) if known is None else known.source
            return self._with_reading(analyse(path, source, self.tools, self.modules))
        except SkippedSource as error:
            return skipped_file(path, shown, error)
        except UnreadableSource as error:
            return unreadable_file(path, shown, error)
        except Exception as error:  # noqa: BLE001 - one bad file must not take the others down; it is reported
            return _broken(path, shown, error)

    def summary(self, path: str) -> FileResult:
        shown = self.context.shown(path)
        try:
            asked = self.modules.asked_by(path)
            facts = self.modules.own(path, lambda: read_facts(path, self.source(path), self.tools, asked))
            summary = summary_of(facts, self.tools, is_notebook=is_notebook(path))
        except (UnreadableSource, RecursionError):
            return FileResult(path, shown)  # not asked about, and nothing to learn from it
        except Exception as error:  # noqa: BLE001 - a file nobody asked about must not take the others down either
            return _broken(path, shown, error)
        return self._with_reading(FileResult(path, shown, summary=summary))

    def _with_reading(self, result: FileResult) -> FileResult:
        facts = self.modules.put_back(result.path)
        if facts is None or not (self.context.is_kept or self.context.is_shared):
            return result
        return replace(result, reading=reading_of(facts, self.modules, is_kept=self.context.is_kept))

    def exports(self, path: str) -> bytes:
        """What a file shows to others, as a checksum; empty for one that cannot be read."""
        facts = self.modules.at(path)
        return b"" if facts is None else exports_of(facts)


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
        close_states()
        kept = _states[id(context)] = (context, ProcessState(context))
    return kept[1]


def close_states() -> None:
    """Let go of all trees: a process that goes on after a check needs them no more."""
    for _, state in _states.values():
        state.modules.close()
    _states.clear()
