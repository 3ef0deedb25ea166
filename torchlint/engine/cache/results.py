"""What earlier runs know of a project: what each file said, and whole reports.

A result holds while its file, the files that it consulted, and the surroundings are the same: the settings, the set of
paths, the folders that are searched for modules, and the files beside the sources. A report holds while all files of
its project are the same, and the file system answers what judges asked of it as it did.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

import msgspec
from msgspec.structs import replace

from torchlint.encoding import checksum, decoded, encoded
from torchlint.engine.cache.askers import may_have_asked
from torchlint.engine.cache.build import build
from torchlint.engine.cache.checksums import Checksums
from torchlint.engine.cache.folders import folder_of
from torchlint.engine.cache.layout import CHECK, INTERFACE, SUMMARY, Asked, Kept, Known, read_known, write_known
from torchlint.engine.hearing import Hearing
from torchlint.engine.project_context import Job, bytes_of
from torchlint.facts.exports import names_that_differ
from torchlint.project.outside import Outside, Told
from torchlint.project.shown import shown_path

if TYPE_CHECKING:
    from torchlint.engine.analysis import FileResult
    from torchlint.engine.process_state import ProcessState
    from torchlint.engine.project_context import ProjectContext

Made = TypeVar("Made")
Answered = tuple[Asked, tuple[str, ...], tuple[str, ...], bytes]
"""The question to a file, what its answer hangs on (`Reading`), and the answer."""

UNREADABLE = b"-"
"""The exports of a file that cannot be read."""
_MOST_COMPARED = 24
"""Files that changed: of more, all that consulted them are read again."""
_MOST_PROJECTS = 8
"""Kept in one process: each settings of a project make another."""
_MOST_REPORTS = 8
"""Of different questions about one project: of the project as a whole, of each file in an editor."""


class _KeptReport(msgspec.Struct, frozen=True, array_like=True, gc=False):
    hearing: Hearing
    outside: tuple[Told, ...]


class ResultCache(msgspec.Struct):
    """Results of earlier runs: of this process, and with `is_on_disk` of others.

    They lie in `.torchlint_cache` at each root, or all in `directory`.
    """

    is_on_disk: bool = False
    directory: Path | None = None
    stays: bool = False
    """Whether this process will ask again: then results stay at hand as objects."""
    _known: dict[str, Known] = msgspec.field(default_factory=dict)

    def of(self, context: ProjectContext) -> Keeper:
        """What may still hold in a project as it is now."""
        file = self._file(context)
        known = self._known.pop(str(file), None)
        if known is None:
            known = read_known(file) if self.is_on_disk else Known()
        self._known[str(file)] = known
        for old in list(self._known)[:-_MOST_PROJECTS]:
            del self._known[old]
        # Unsaved text is nothing that another run will meet.
        written = file if self.is_on_disk and not context.contents else None
        return Keeper(context, known, written, stays=self.stays)

    def _file(self, context: ProjectContext) -> Path:
        """One for each way to check a project: settings, the rules of the user's own, and the folder seen from."""
        settings = context.settings
        own = [checksum(bytes_of(path)) for path in settings.extensions.files()]
        plain = msgspec.to_builtins(settings, enc_hook=repr, order="deterministic")
        told = (plain, shown_path(context.root, ""), own)
        name = f"{build()}-{checksum(repr(told)).hex()[:16]}.bin"
        return folder_of(context.root, self.directory) / name


class Keeper:
    """The results of one project: those that hold, and those of this run."""

    def __init__(self, context: ProjectContext, known: Known, file: Path | None, *, stays: bool = False) -> None:
        self._context, self._known, self._file, self._stays = context, known, file, stays
        self._checksums = Checksums(context, known.files)
        self._numbers = {path: number for number, path in enumerate(context.paths)}
        self._is_new = False
        self._said: dict[Asked, Kept] | None = None
        self._answers: list[Answered] = []

    def report(self, files: Sequence[str]) -> Hearing | None:
        """What an earlier run had to say about these files of the project."""
        body = self._known.reports.get(self._key(files))
        kept = None if body is None else decoded(body(), _KeptReport)
        if kept is None or not Outside.says_the_same(kept.outside):
            return None
        return kept.hearing

    def keep_report(self, files: Sequence[str], hearing: Hearing, outside: Outside) -> None:
        """Keep what this run has to say, unless something went wrong."""
        if hearing.outcome.internal_errors:
            return
        body = encoded(_KeptReport(hearing, outside.told))
        if body is not None:
            key = self._key(files)
            others = [(one, kept) for one, kept in self._known.reports.items() if one != key]
            self._known.reports = {key: lambda: body, **dict(others[: _MOST_REPORTS - 1])}
            self._is_new = True

    def known(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, FileResult]]:
        """The jobs whose results hold."""
        for job in jobs:
            result = self._result(job.path, CHECK)
            if result is None and job.summary_only:
                result = self._result(job.path, SUMMARY)
            if result is not None:
                yield job, result

    def _result(self, path: str, asked: bytes) -> FileResult | None:
        from torchlint.engine.analysis import FileResult  # noqa: PLC0415 - a report is told without

        kept = self._used(path, asked)
        at_hand = self._known.at_hand.get((path, asked))
        if at_hand is not None and at_hand[0] is kept:
            return at_hand[1]
        result = None if kept is None else decoded(kept.body(), FileResult)
        if self._stays and kept is not None and result is not None:
            self._known.at_hand[path, asked] = kept, result
        return result

    def keep(self, job: Job, result: FileResult) -> None:
        """Keep a result of this run, unless something went wrong."""
        from torchlint.engine.analysis import Reading  # noqa: PLC0415 - as above

        reading = result.reading or Reading()
        is_sound = not result.internal_errors and self._numbers.keys() >= {result.path, *reading.consulted}
        body = encoded(replace(result, reading=None)) if is_sound else None
        if body is not None:
            if result.reading is not None:  # a file that could not be read, or was not, has none
                self._keep((job.path, INTERFACE), (), (), reading.interface)
            asked = job.path, SUMMARY if job.summary_only else CHECK
            self._keep(asked, reading.consulted, reading.gone_through, body)
            self._checksums.set_exports(result.path, reading.exports or UNREADABLE)

    def interface(self, path: str) -> bytes | None:
        """What others read of a file, which hangs on that file alone."""
        before, asked = self._known.files.get(path), (path, INTERFACE)
        is_same = before is not None and before.checksum == self._checksums.files[path].checksum
        kept = self._known.said.get(asked) if is_same else None
        return None if kept is None else kept.body()

    def answer(self, path: str, question: bytes) -> bytes | None:
        """What an earlier run was answered by a file."""
        kept = self._used(path, question)
        return None if kept is None else kept.body()

    def _used(self, path: str, question: bytes) -> Kept | None:
        """What a file said, which was used last then."""
        said = self._holding()
        kept = said.pop((path, question), None)
        if kept is not None:
            said[path, question] = kept
        return kept

    def keep_answer(self, path: str, question: bytes, answer: bytes) -> None:
        """Keep what a file answered in this run."""
        modules = self._state.modules
        answered = (path, question), modules.consulted_by(path), modules.gone_through_by(path), answer
        self._answers.append(answered)
        self._keep(*answered)

    def answers_since(self) -> list[Answered]:
        """What files answered in this process since it was asked last, for another."""
        answers, self._answers = self._answers, []
        return answers

    def learn(self, answers: Iterable[Answered]) -> None:
        """Keep what files answered in another process."""
        for answered in answers:
            self._keep(*answered)

    def read(self, path: str) -> bytes:
        """A source; in a process that stays it is read once, as long as it stays the same."""
        file = self._checksums.files.get(path)
        if file is None or not self._stays:
            return self._context.read(path)
        held = self._known.texts.get(path)
        if held is None or held[0] != file.checksum:
            held = self._known.texts[path] = file.checksum, self._context.read(path)
        return held[1]

    def sources(self) -> Iterator[tuple[str, bytes]]:
        """Every source of the project, by path."""
        return ((path, self.read(path)) for path in self._context.paths)

    def made_of(self, name: str, parts: object, make: Callable[[], Made]) -> Made:
        """What is made of all files; what was made in an earlier run, where the parts are the same."""
        known = self._known.made.get(name)
        if known is not None and known[0] == parts:
            return cast("Made", known[1])
        made = make()
        if self._stays:
            self._known.made[name] = parts, made
        return made

    def _keep(self, asked: Asked, consulted: Iterable[str], gone_through: Iterable[str], body: bytes) -> None:
        self._holding()[asked] = Kept(self._bits(consulted), self._bits(gone_through), lambda: body)
        self._is_new = True

    def save(self) -> None:
        """Put on disk what this run found out, and forget what no longer holds."""
        settled, said = self._checksums.settled(), self._holding()
        unsettled = self._bits(path for path in self._numbers if path not in settled)
        self._known.said = {
            asked: kept for asked, kept in said.items() if asked[0] in settled and not kept.consulted & unsettled
        }
        if len(settled) < len(self._checksums.files):
            self._known.reports.clear()
        self._known.files = settled
        at_hand = self._known.at_hand.items()
        self._known.texts = {path: held for path, held in self._known.texts.items() if path in settled}
        self._known.at_hand = {asked: held for asked, held in at_hand if self._known.said.get(asked) is held[0]}
        if self._is_new and self._file is not None:
            write_known(self._file, self._known, self._context.paths)

    def _holding(self) -> dict[Asked, Kept]:
        """What still holds of what files said."""
        if self._said is None:
            surroundings = self._surroundings()
            files, known = self._checksums.files, self._known
            changed = {
                path
                for path in self._numbers
                if path not in known.files or known.files[path].checksum != files[path].checksum
            }
            said = known.said if known.surroundings == surroundings else {}
            said = {asked: kept for asked, kept in said.items() if asked[0] not in changed}
            if len(changed) > _MOST_COMPARED:
                shown = self._bits(changed)
                said = {asked: kept for asked, kept in said.items() if not kept.consulted & shown}
            else:
                differing = {path: self._names_that_differ(path) for path in sorted(changed)}
                for path, names in differing.items():
                    said = self._without_askers(said, path, names)
            self._said = said
            self._known.surroundings = surroundings
        return self._said

    def _names_that_differ(self, path: str) -> frozenset[str] | None:
        """The names of a file that others get another answer for than they did; None where it may be any."""
        before = self._known.files.get(path)
        now = self._state.exports(path) or UNREADABLE
        self._checksums.set_exports(path, now)
        return None if before is None else names_that_differ(before.exports, now)

    def _without_askers(self, said: dict[Asked, Kept], home: str, names: frozenset[str] | None) -> dict[Asked, Kept]:
        """What files said that have not asked a file for any of these names, nor asked one that has."""
        if names is not None and not names:
            return said
        changed = self._bits([home])
        consulting = {asked: kept for asked, kept in said.items() if kept.consulted & changed}
        if names is not None:
            behind = functools.reduce(operator.or_, (kept.consulted for kept in consulting.values()), 0)
            numbered = [path for path, number in self._numbers.items() if behind >> number & 1]
            others = dict.fromkeys([*numbered, *(path for path, _ in consulting)])
            asking = self._bits(may_have_asked(self._context, self._checksums, home, sorted(names), others, self.read))
            consulting = {
                asked: kept
                for asked, kept in consulting.items()
                if kept.gone_through & changed or (kept.consulted | 1 << self._numbers[asked[0]]) & asking
            }
        return {asked: kept for asked, kept in said.items() if asked not in consulting}

    @property
    def _state(self) -> ProcessState:
        from torchlint.engine.process_state import process_state_of  # noqa: PLC0415 - a report is told without

        state = process_state_of(self._context)
        state.modules.kept_interface = self.interface
        return state

    def _surroundings(self) -> bytes:
        """What the results of all files hang on."""
        context, state = self._context, self._state
        folders = state.modules.folders_said_by(self._checksums.hints())
        is_concerned = bool(context.paths) and state.concerns(context.paths[0])
        return checksum(repr((context.paths, self._beside(), sorted(folders.scripts), folders.added, is_concerned)))

    def _beside(self) -> list[tuple[str, str]]:
        return [(str(path), self._checksums.files[str(path)].checksum.hex()) for path in self._context.beside]

    def _key(self, files: Sequence[str]) -> bytes:
        sums = [self._checksums.files[path].checksum for path in self._context.paths]
        return checksum(repr((self._context.paths, self._beside(), tuple(files), sums)))

    def _bits(self, paths: Iterable[str]) -> int:
        bits = bytearray(len(self._numbers) // 8 + 1)
        for path in paths:
            number = self._numbers[path]
            bits[number >> 3] |= 1 << (number & 7)
        return int.from_bytes(bits, "little")
