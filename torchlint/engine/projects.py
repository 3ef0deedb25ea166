"""The files of one root: analysed one by one, judged together."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from torchlint.catalogue import Catalogue
from torchlint.config import Settings
from torchlint.diagnostics import InternalError, Note, Report
from torchlint.engine.hearing import Hearing, Outcome
from torchlint.engine.narrowing import EVERYTHING, Narrowing
from torchlint.engine.notebook_files import notebook_files
from torchlint.engine.path_ignores import unused_ignores
from torchlint.engine.project_context import Case, Job, ProjectContext
from torchlint.engine.reporting import reported
from torchlint.engine.trial import Trial, Verdict
from torchlint.engine.workers import Exchange, Workers, are_inherited, are_shared
from torchlint.source.discovery import ProjectFiles, scan_project

if TYPE_CHECKING:
    from torchlint.checks.framework.registration import Check
    from torchlint.engine.analysis import FileResult
    from torchlint.engine.cache.results import Keeper, ResultCache
    from torchlint.engine.outcomes import Court
    from torchlint.engine.trial import Judge
    from torchlint.facts.summary import FileSummary
    from torchlint.project.index import Project

_TIMES_MORE, _MANY_BESIDE = 10, 100
"""A check that reads so many times its own files, and so many, says so."""
_MOST_FILES = 50_000
"""Above this, program-wide facts cost more than they tell."""


class Execution(msgspec.Struct, frozen=True):
    """Who does the work: in how many processes (None: as many as there are cores), and who hears of each file done."""

    jobs: int | None = None
    progress: Callable[[], None] = lambda: None
    cache: ResultCache | None = None
    """What earlier runs know."""


class ProjectRun:
    """Checks files of one root and judges what they say with the facts of the whole root.

    `is_whole` says that `files` are all that the root holds: an ignore for none of them is for nothing. `alone_in` is
    the folder of a file that is judged as if it lay there alone.
    """

    def __init__(
        self,
        settings: Settings,
        catalogue: Catalogue,
        files: Sequence[Path],
        contents: Mapping[Path, bytes],
        *,
        execution: Execution | None = None,
        is_whole: bool = False,
        alone_in: Path | None = None,
    ) -> None:
        self.is_whole = is_whole
        self.settings = settings
        self.catalogue = catalogue
        self.execution = execution or Execution()
        self._beside = 0
        """Files that were read though nobody asked for them."""
        self._errors_beside: list[InternalError] = []
        """From files that were read only for what their project asks."""
        self._is_alone = alone_in is not None
        self.root = root = alone_in or settings.root
        self.files = tuple(dict.fromkeys(_relative(root, path) for path in files))
        overlay = {_relative(root, path): data for path, data in contents.items()}
        self.scan = ProjectFiles((), (), ()) if self._is_alone else scan_project(root, limit=_MOST_FILES)
        named = set(self.files)
        known = {_relative(root, path) for path in self.scan.sources} | named
        written = notebook_files(root, known, overlay, are_alone=self._is_alone)
        self.files = (*self.files, *(path for path, held in written.items() if held.notebook in named))
        paths = tuple(sorted(known | written.keys()))
        self._cache = None if self._is_alone or self.scan.truncated else self.execution.cache
        beside = (*self.scan.environment, *self.scan.requirements)
        is_kept, is_shared = self._cache is not None, are_shared(len(paths), self.execution.jobs)
        self.context = ProjectContext(root, settings, catalogue, paths, overlay, written, beside, is_kept, is_shared)

    # What only a run without a kept report needs is slow to import.

    @functools.cached_property
    def checks(self) -> Mapping[str, Check]:
        """The checks that run, by name."""
        from torchlint.engine.process_state import process_state_of  # noqa: PLC0415

        return {check.name: check for check in process_state_of(self.context).tools.prefilter.checks}

    @functools.cached_property
    def _keeper(self) -> Keeper | None:
        return None if self._cache is None else self._cache.of(self.context)

    def report(self, narrowing: Narrowing = EVERYTHING) -> Report:
        """Analyse, judge, suppress, narrow down and sort; or tell what an earlier run found."""
        hearing = None if self._keeper is None else self._keeper.report(self.files)
        if hearing is None:
            hearing = self._heard_anew()
        else:
            for path in self.files:
                self._has_done(path)
        return self._reported(hearing, narrowing)

    def _heard_anew(self) -> Hearing:
        verdicts: list[Verdict] = []
        results = self.results(self.files, verdicts)
        project = self.project(results)
        hearing = self.heard(results, project, verdicts)
        hearing = replace(hearing, notes=(*hearing.notes, *self._read_beside()))
        if self._keeper is not None:
            self._keeper.keep_report(self.files, hearing, project.outside)
        self.keep()
        return hearing

    def keep(self) -> None:
        """Keep for later runs what files said to this one."""
        if self._keeper is not None:
            self._keeper.save()

    def _read_beside(self) -> Iterator[Note]:
        """Where a check of few files needed many."""
        if self._beside > max(_MANY_BESIDE, _TIMES_MORE * len(self.files)):
            checked = f"{len(self.files)} file{'' if len(self.files) == 1 else 's'}"
            yield Note(
                f"to check {checked}, {self._beside:,} more under {self.root} were asked: findings hang on the whole "
                "project (`--isolated-facts` asks none)"
            )

    def results(self, paths: Sequence[str], verdicts: list[Verdict] | None = None) -> list[FileResult]:
        """What these files of the project say by themselves, sorted by path.

        `verdicts` gets what the project makes of each where several processes do all that, and nothing otherwise.
        """
        results = []
        for result in self._analysed([Job(path) for path in sorted(paths, key=_importing_last)], verdicts):
            results.append(result)
            self._has_done(result.path)
        return sorted(results, key=lambda result: result.path)

    def _has_done(self, path: str) -> None:
        if path not in self.context.written:  # it counts as its notebook
            self.execution.progress()

    def judged(self, results: Sequence[FileResult], project: Project, narrowing: Narrowing = EVERYTHING) -> Report:
        """What is left of the results when the project has spoken."""
        return self._reported(self.heard(results, project), narrowing)

    def _reported(self, hearing: Hearing, narrowing: Narrowing) -> Report:
        if self.is_whole:
            hearing.outcome.diagnostics += unused_ignores(self.settings, self.catalogue, self.context.paths)
        return reported([hearing], self.settings, self.catalogue, narrowing)

    def heard(self, results: Sequence[FileResult], project: Project, verdicts: Sequence[Verdict] = ()) -> Hearing:
        """All that the project makes of the results; `verdicts`, if any, are those on each of them."""
        court = self._court(project)
        for verdict in verdicts:
            project.outside.learn(verdict.asked_outside)
            if self._keeper is not None:
                self._keeper.learn(verdict.answers)
        said = [one.outcome for one in sorted(verdicts, key=lambda one: one.path)] or map(court.hear, results)
        outcome = Outcome.of_all([*said, court.hear_python_2(results)])
        outcome.internal_errors += self._errors_beside
        checked = [result for result in results if not result.is_skipped]
        return Hearing(
            outcome,
            notes=(*self._notes(project), *(note for result in results for note in result.notes)),
            paths=frozenset(self._from_settings(result.path) for result in checked),
            targets={result.shown: project.target_for(result.path) for result in checked},
            programs=tuple(_programs(checked)),
        )

    def _from_settings(self, path: str) -> str:
        """A path of the project, from the root of the settings."""
        is_same = self.root == self.settings.root
        return path if is_same else _relative(self.settings.root, self.root / path)

    def _court(self, project: Project) -> Court:
        from torchlint.checks.framework.registration import all_program_checks  # noqa: PLC0415
        from torchlint.engine.outcomes import Court  # noqa: PLC0415

        program_checks = () if self.scan.truncated else all_program_checks()
        holders = {path: held.notebook for path, held in self.context.written.items()}
        return Court(project, self.checks, program_checks, holders)

    def _judge_among(self, results: Sequence[FileResult]) -> Judge:
        """The judge of single files, in a process that goes on with something else after it."""
        project = self.project(results)
        court, keeper = self._court(project), self._keeper
        asked = 0

        def judge(result: FileResult) -> Verdict:
            nonlocal asked
            outcome = court.hear(result)
            answers = () if keeper is None else keeper.answers_since()
            new = project.outside.told[asked:]
            asked += len(new)
            return Verdict(result.path, outcome, answers, new)

        return judge

    def _analysed(self, jobs: Sequence[Job], verdicts: list[Verdict] | None = None) -> Iterator[FileResult]:
        keeper = self._keeper
        known = {} if keeper is None else dict(keeper.known(jobs))
        yield from known.values()
        of_path = {job.path: job for job in jobs if job not in known}
        is_everything = len(of_path) == len(self.context.paths)  # else each process would read what lies beside
        judged_there = is_everything and are_inherited() and are_shared(len(jobs), self.execution.jobs)
        for result in self._done(list(of_path.values()), verdicts if judged_there else None):
            if keeper is not None:
                keeper.keep(of_path[result.path], result)
            yield replace(result, reading=None)

    def _done(self, jobs: Sequence[Job], verdicts: list[Verdict] | None) -> Iterator[FileResult]:
        from torchlint.engine.process_state import process_state_of  # noqa: PLC0415

        state = process_state_of(self.context)  # made before processes are forked, so that these have it
        trial = Trial(self.context, None if verdicts is None else self._judge_among)
        if are_shared(len(jobs), self.execution.jobs):
            state.modules.folders  # noqa: B018 - else each process reads all sources for them
        exchange = Exchange(trial.begin, trial.told, trial.hear)
        workers = Workers(trial.work, trial.on_death, jobs=self.execution.jobs, size=trial.size, exchange=exchange)
        for found in workers.map(jobs, [] if verdicts is None else [Case(job.path) for job in jobs]):
            trial.hear(trial.told(found))
            if isinstance(found, Verdict):
                assert verdicts is not None
                verdicts.append(found)
            else:
                yield found

    def project(self, results: Sequence[FileResult] = ()) -> Project:
        """The project around some results; what they do not say is read when it is asked for."""
        from torchlint.engine.process_state import process_state_of  # noqa: PLC0415
        from torchlint.project.index import Project  # noqa: PLC0415

        known = {result.path: result.summary for result in results if result.summary is not None}

        def load() -> Mapping[str, FileSummary]:
            if self.scan.truncated:
                return known
            asked = {result.path for result in results}
            others = [Job(path, summary_only=True) for path in self.context.paths if path not in asked]
            self._beside = len(others)
            read = list(self._analysed(others))
            self._errors_beside += [error for result in read for error in result.internal_errors]
            found = {result.path: result.summary for result in read if result.summary is not None}
            return dict(sorted({**known, **found}.items()))

        return Project(
            root=self.root,
            is_alone=self._is_alone,
            settings=self.settings,
            catalogue=self.catalogue,
            requirement_files=self.scan.requirements,
            environment_files=self.scan.environment,
            known=known,
            sources=self.context.paths,
            load_summaries=load,
            contents=(self._keeper or self.context).sources,
            read=(self._keeper or self.context).read,
            load_facts=process_state_of(self.context).facts,
            kept_answers=self._keeper,
        )

    def _notes(self, project: Project) -> list[Note]:
        from torchlint.project.target import unknown_torch  # noqa: PLC0415

        notes = unknown_torch(map(project.target_for, self.files))
        if self.scan.truncated:
            text = f"more than {_MOST_FILES:,} files under {self.root}: rules about whole programs are off"
            notes.append(Note(text))
        return notes


def _importing_last(path: str) -> tuple[bool, int]:
    """A package's face reads all that it hands on: after those files' own checks that is their exports alone."""
    is_face = path.endswith("__init__.py")
    return is_face, -path.count("/") if is_face else 0


def _relative(root: Path, path: Path) -> str:
    full = os.path.abspath(path)  # noqa: PTH100 - links stay as the user gave them
    above = os.path.join(root, "")  # noqa: PTH118 - each file passes here
    inner = full.removeprefix(above)
    is_plain = full.startswith(above) and inner[:1] not in ("", os.sep)
    return (inner if is_plain else os.path.relpath(full, root)).replace(os.sep, "/")


def _programs(results: Sequence[FileResult]) -> Iterator[str]:
    """The files that start a program for certain, where one of them is seen to train; no file beside is read for it."""
    summaries = [(result.shown, result.summary) for result in results if result.summary is not None]
    if any(summary.trainings for _, summary in summaries):
        yield from (
            shown
            for shown, one in summaries
            if any(not (entry.is_trial or entry.is_tentative) for entry in one.entries)
        )
