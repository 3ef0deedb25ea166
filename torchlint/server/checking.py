"""One check of all that is open, with the projects' facts kept warm from one to the next."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lsprotocol import types
from pygls.workspace import PositionCodec

from torchlint.api import CheckOptions, check_paths
from torchlint.diagnostics import Diagnostic, InternalError, Report
from torchlint.engine.cache.results import ResultCache
from torchlint.engine.process_state import close_states
from torchlint.errors import TorchlintError, UnreadableSource
from torchlint.project.roots import find_root, is_project
from torchlint.server.diagnostics import as_diagnostic, verdict_hint
from torchlint.server.opened import OpenFile
from torchlint.server.places import Places
from torchlint.source.syntax import can_be_parsed
from torchlint.source.text import is_notebook, source_from_bytes


@dataclass(frozen=True)
class Found:
    """A finding in a text, and what the editor is told of it."""

    finding: Diagnostic
    diagnostics: tuple[types.Diagnostic, ...]


@dataclass(frozen=True)
class Answer:
    """What one check says of the files that were open."""

    files: Sequence[OpenFile]
    places: Places
    found: Mapping[str, tuple[Found, ...]]
    """By the URI of the text; one without findings is not among them."""
    errors: tuple[str, ...] = ()
    """What the user has to put right first."""
    internal_errors: tuple[InternalError, ...] = ()
    notes: tuple[str, ...] = ()
    """What changes no finding, such as why a file is not checked."""
    options: CheckOptions = dataclasses.field(default_factory=CheckOptions)


class Checker:
    """Checks what is open. It keeps what projects said, and of each file the last text that could be parsed."""

    def __init__(self, cache: ResultCache) -> None:
        self._cache = cache
        self._readable: dict[Path, bytes] = {}
        self._seen: dict[Path, tuple[bytes, bool]] = {}

    def check(self, files: Sequence[OpenFile], options: CheckOptions, codec: PositionCodec) -> Answer:
        """Check all files at once.

        A text that is being written mostly cannot be parsed. It is told so; what others are told hangs on what it said
        before, so that no project is read again for half a line.
        """
        placed = [file for file in files if file.has_place and not _is_astray(file.path, options.folders)]
        paths = {file.path for file in placed}
        self._forget_others(paths)
        broken = [file for file in placed if self._is_being_written(file)]
        texts = {file.path: file.data for file in placed if file.is_unsaved}
        texts |= {file.path: self._readable[file.path] for file in broken}
        warm = _Told()
        # Verdicts are of the code on disk.
        chosen = dataclasses.replace(options, cache=self._cache, kept_verdicts=not texts)
        warm.run([file.path for file in placed], chosen, texts)
        alone = _Told()
        for one in [*broken, *(file for file in files if file.path not in paths)]:
            alone.run([one.path], _alone(options, has_place=one.has_place), {one.path: one.data})
        places = Places(files, codec)
        told_alone = {file.path for file in broken}
        findings = [
            one for one in warm.findings if (file := places.file_of(one.location)) and file.path not in told_alone
        ]
        return Answer(
            files,
            places,
            _by_text([*findings, *alone.findings], places),
            errors=tuple(dict.fromkeys([*warm.errors, *alone.errors])),
            internal_errors=tuple(dict.fromkeys([*warm.internal_errors, *alone.internal_errors])),
            notes=tuple(dict.fromkeys([*warm.notes, *alone.notes])),
            options=options,
        )

    def _forget_others(self, paths: set[Path]) -> None:
        for known in (self._readable, self._seen):
            for path in known.keys() - paths:
                del known[path]

    def _is_being_written(self, file: OpenFile) -> bool:
        """Whether a text cannot be parsed that could be before. The cells of a notebook are read one by one anyhow."""
        if file.has_cells:
            return False
        seen = self._seen.get(file.path)
        if seen is None or seen[0] != file.data:
            seen = self._seen[file.path] = file.data, _is_readable(file)
        if seen[1]:
            self._readable[file.path] = file.data
        return not seen[1] and file.path in self._readable


class _Told:
    """What several checks say together."""

    def __init__(self) -> None:
        self.findings: list[Diagnostic] = []
        self.errors: list[str] = []
        self.internal_errors: list[InternalError] = []
        self.notes: list[str] = []

    def run(self, paths: Sequence[Path], options: CheckOptions, texts: Mapping[Path, bytes]) -> None:
        try:
            report = check_paths(paths, options, texts) if paths else Report(())
        except TorchlintError as error:
            self.errors.append(str(error))
            return
        finally:
            close_states()
        self.findings += report.diagnostics
        self.errors += report.errors
        self.internal_errors += report.internal_errors
        self.notes += map(str, report.notes)


def _alone(options: CheckOptions, *, has_place: bool) -> CheckOptions:
    """For a file that is judged by itself; of one that has no place no configuration knows, either."""
    overrides = dataclasses.replace(options.overrides, isolated_facts=True)
    return dataclasses.replace(options, overrides=overrides, isolated=not has_place and options.config is None)


def _is_astray(path: Path, folders: Sequence[Path]) -> bool:
    """Whether a file lies in no open folder and in no project: what lies beside it may be anything, and a lot."""
    return not any(folder in path.parents for folder in folders) and not is_project(find_root(path))


def _is_readable(file: OpenFile) -> bool:
    try:
        source = source_from_bytes(file.data, str(file.path), notebook=is_notebook(str(file.path)))
    except UnreadableSource:
        return False
    return can_be_parsed(source)


def _by_text(findings: Iterable[Diagnostic], places: Places) -> dict[str, tuple[Found, ...]]:
    found: dict[str, list[Found]] = defaultdict(list)
    for one in findings:
        if places.file_of(one.location) is not None:
            hint = verdict_hint(one, places.of)
            told = as_diagnostic(one, places.of)
            found[places.of(one.location).uri].append(Found(one, (told,) if hint is None else (told, hint)))
    return {uri: tuple(group) for uri, group in found.items()}
