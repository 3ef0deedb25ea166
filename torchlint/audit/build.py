"""From what was asked for to the pages: find the programs, check what they reach, and write each one's sections."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from torchlint.audit.choosing import Request, kind_of, programs_among, programs_of, title_of
from torchlint.audit.data import (
    RESTART_CODES,
    WORKER_CODES,
    order_section,
    own_rules_section,
    randomness_section,
    restarts_section,
    workers_section,
)
from torchlint.audit.material import Material
from torchlint.audit.needs import Needs, needs_of
from torchlint.audit.operators import operators_section
from torchlint.audit.page import Audit, Page, Section, Subject
from torchlint.audit.seeds import CODES as SEED_CODES
from torchlint.audit.seeds import seeds_section
from torchlint.audit.settling import command_of, ranked, settled
from torchlint.audit.sources import Sources
from torchlint.audit.surroundings import environment_section, mode_section, switches_section, torch_section
from torchlint.audit.unreached import unreached_among, unreached_page
from torchlint.audit.unseen import unseen
from torchlint.catalogue import load_catalogue
from torchlint.diagnostics import Confidence, InternalError, Note
from torchlint.engine.analysis import FileResult
from torchlint.engine.projects import Execution, ProjectRun
from torchlint.engine.run import RunOptions, Selection, select_files
from torchlint.facts.entries import is_example
from torchlint.project.index import Project
from torchlint.project.programs import Program
from torchlint.project.shown import shown_path


def audit(entries: Sequence[str], options: RunOptions) -> Audit:
    """The pages of the programs that these files start, or that folders hold (none given: the current folder).

    Raises NoProgram for a file that starts none, and TorchlintError for a wrong configuration.
    """
    selection, desks = _desks(entries, options)
    pages = [page for desk in desks for page in desk.pages()]
    notes = [Note("no such file or folder", str(path)) for path in selection.missing]
    return Audit(
        pages=tuple(sorted(pages, key=lambda page: page.subject.is_example)),
        notes=tuple(dict.fromkeys([*notes, *selection.notes, *(note for desk in desks for note in desk.notes)])),
        internal_errors=tuple(dict.fromkeys(error for desk in desks for error in desk.internal_errors)),
    )


def needs(entries: Sequence[str], options: RunOptions) -> tuple[Needs, ...]:
    """What the start blocks of these programs have to do; entries and errors are those of `audit`."""
    also = (*options.overrides.extend_select, *sorted(RESTART_CODES | WORKER_CODES))
    options = dataclasses.replace(options, overrides=dataclasses.replace(options.overrides, extend_select=also))
    _, desks = _desks(entries, options)
    return tuple(needs_of(material) for desk in desks for material in desk.materials())


def _desks(entries: Sequence[str], options: RunOptions) -> tuple[Selection, list[_Desk]]:
    """The files that are asked for, and a desk for each root."""
    requests = [Request.parse(entry) for entry in entries] or [Request(Path())]
    selection = select_files([request.path for request in requests], options, {}).complete()
    return selection, [_Desk(selection, group, requests, options) for group in range(len(selection.groups))]


class _Desk:
    """Writes the pages of one root's programs."""

    def __init__(self, selection: Selection, group: int, requests: Sequence[Request], options: RunOptions) -> None:
        settings, files = selection.groups[group]
        self._settings = settings
        self._requests = requests
        catalogue, execution = load_catalogue(settings.extensions), Execution(options.jobs, cache=options.cache)
        self._least = settings.min_confidence
        settings = dataclasses.replace(
            settings,
            shows_open=True,
            selected=settings.selected | settings.optional,
            min_confidence=options.overrides.min_confidence or Confidence.LOW,
        )
        self._run = ProjectRun(settings, catalogue, files, {}, execution=execution)
        self._asked = {shown_path(settings.root, path) for path in self._run.files}
        self._sources = Sources()
        self.notes: list[Note] = []
        self.internal_errors: list[InternalError] = []

    def pages(self) -> Iterator[Page]:
        project = self._run.project()
        programs = self._programs(project)
        unreached = unreached_among(project, programs, self._below())
        covered = [*programs, *([] if unreached is None else [unreached])]
        reached = sorted({path for program in covered for path in program.files})
        results = {result.path: result for result in self._run.results(reached)}
        beside = self._run.judged([], project)
        self.notes += [*beside.notes, *(note for result in results.values() for note in result.notes)]
        self.internal_errors += beside.internal_errors
        for program in programs:
            yield self._page(program, project, results)
        page = None if unreached is None else unreached_page(self._material(unreached, project, results))
        self._run.keep()
        if page is not None:
            yield page

    def materials(self) -> Iterator[Material]:
        """What is known of each program."""
        project = self._run.project()
        programs = self._programs(project)
        reached = sorted({path for program in programs for path in program.files})
        results = {result.path: result for result in self._run.results(reached)}
        for program in programs:
            yield self._material(program, project, results)
        self._run.keep()

    def _programs(self, project: Project) -> list[Program]:
        """Each once: a file that is named, and again by its folder, is one file."""
        root = self._settings.root
        found: dict[Program, None] = {}
        for request in self._requests:
            shown = shown_path(root, str(request.path.absolute()))
            if request.path.is_dir():
                found.update(dict.fromkeys(programs_among(project, self._inside(request))))
            elif shown in self._asked:
                path = next(path for path in self._own() if shown_path(root, path) == shown)
                found.update(dict.fromkeys(programs_of(project, path, request)))
        return list(found)

    def _own(self) -> set[str]:
        return {path for path in self._run.context.paths if shown_path(self._settings.root, path) in self._asked}

    def _inside(self, request: Request) -> set[str]:
        """The files in a folder that is asked for."""
        folder, root = Path(os.path.abspath(request.path)), self._settings.root  # noqa: PTH100 - links stay as given
        return {path for path in self._own() if folder in Path(os.path.abspath(root / path)).parents}  # noqa: PTH100

    def _below(self) -> set[str]:
        """The files in all folders that are asked for: who asks for a file asks for its program alone."""
        return {path for request in self._requests if request.path.is_dir() for path in self._inside(request)}

    def _material(self, program: Program, project: Project, results: dict[str, FileResult]) -> Material:
        seen = project.seen_by(program)
        report = self._run.judged([results[path] for path in sorted(program.files & results.keys())], seen)
        self.internal_errors += report.internal_errors
        return Material(program, seen, report, self._sources, self._least)

    def _page(self, program: Program, project: Project, results: dict[str, FileResult]) -> Page:
        material = self._material(program, project, results)
        sections = settled(_sections(material), material, command_of(material))
        return Page(self._subject(material), sections, unseen(material), ranked(sections))

    def _subject(self, material: Material) -> Subject:
        program, project = material.program, material.project
        training = project.randomness_of(program).trained
        path, separator, command = title_of(program, project).partition("::")
        return Subject(
            name=f"{shown_path(project.root, path)}{separator}{command}",
            kind=kind_of(program),
            start=material.sources.spot(program.entry.location, program.entry.place.source_line),
            trains=material.sources.spot(training.place.location, training.place.source_line) if training else None,
            torch=str(project.target_for(program.path)),
            devices=material.devices or ("cpu",),
            files=tuple(shown_path(project.root, file) for file in sorted(program.files)),
            is_example=is_example(program.path),
        )


def _sections(material: Material) -> Iterator[Section]:
    yield seeds_section(material)
    yield mode_section(material)
    yield switches_section(material)
    yield environment_section(material)
    yield torch_section(material)
    yield operators_section(material)
    yield order_section(material)
    yield workers_section(material)
    yield restarts_section(material)
    yield randomness_section(material, SEED_CODES)
    own = own_rules_section(material)
    if own is not None:
        yield own
