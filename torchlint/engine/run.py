"""A whole run: files to roots, roots to projects, projects to one sorted report."""

from __future__ import annotations

import functools
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from torchlint.adoption.baseline import Baseline, baseline_of, refuse_shared
from torchlint.adoption.changed_lines import Changes
from torchlint.catalogue import load_catalogue
from torchlint.catalogue.versions import TorchTarget
from torchlint.config import Overrides, Settings, load_settings, misspelt
from torchlint.diagnostics import Note, Report
from torchlint.engine.narrowing import Narrowing
from torchlint.engine.projects import Execution, ProjectRun
from torchlint.errors import TorchlintError
from torchlint.project.roots import Roots, holds_installed
from torchlint.project.shown import shown_path
from torchlint.source.discovery import discover
from torchlint.source.exclusion import covers_any_part

if TYPE_CHECKING:
    from torchlint.engine.cache.results import ResultCache
    from torchlint.engine.isolated import IsolatedRun

Progress = Callable[[int, int], None]
"""Called with the number of files done and the number of all files."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How to run, apart from what to check."""

    overrides: Overrides = Overrides()
    config: Path | None = None
    isolated: bool = False
    """Read no configuration file."""
    jobs: int | None = None
    kept_verdicts: bool = True
    """Tell with a finding what an earlier `verify` said about it."""
    baseline: bool = False
    """Leave out what the baseline of a root knows."""
    folders: tuple[Path, ...] = ()
    """Folders that count as named where roots are searched for, although not all that lies in them is checked."""
    since: str | None = None
    """Leave out what stands on lines that have not changed since this git revision."""
    progress: Progress | None = None
    cache: ResultCache | None = None
    """What earlier runs know; None keeps nothing."""


class Root(msgspec.Struct, frozen=True):
    """A root of a run: its settings, and how many of its files are judged for which torch."""

    settings: Settings
    targets: Mapping[TorchTarget, int]
    notes: tuple[Note, ...] = ()
    """On what looks like a configuration of it and is none."""


class Selection(msgspec.Struct, frozen=True):
    """The files of a run by root, and what was said while finding them."""

    groups: tuple[tuple[Settings, tuple[Path, ...]], ...]
    missing: tuple[Path, ...]
    notes: tuple[Note, ...]
    whole: frozenset[Path] = frozenset()
    """The folders that were named, so that everything below them is checked."""
    errors: tuple[TorchlintError, ...] = ()
    """Why the files of some roots are not among them: settings, or a baseline, that cannot be read."""

    def complete(self) -> Selection:
        """The same. Raises TorchlintError where files are left out because of their settings."""
        if self.errors:
            raise self.errors[0]
        return self

    @property
    def files(self) -> tuple[Path, ...]:
        return tuple(sorted(path for _, files in self.groups for path in files))


def select_files(paths: Sequence[Path], options: RunOptions, contents: Mapping[Path, bytes]) -> Selection:
    """Find the files to check and the settings of each. Files given in `contents` need not exist.

    Where the settings of some cannot be read, that is one of `errors`; it is raised where none are left.
    """
    finder = _Finder(paths, options)
    for path in contents:
        finder.add(path, is_there=False)
    for path in paths:
        if path not in contents:
            finder.add(path)
    groups: dict[Settings, list[Path]] = defaultdict(list)
    for path in finder.found:
        settings = finder.settings_of(path)
        if settings is not None:
            groups[settings].append(path)
    if not groups and finder.errors:
        raise next(iter(finder.errors.values()))
    ordered = sorted(groups.items(), key=lambda group: str(group[0].root))
    finder.notes += [note for settings in groups for note in _misspelt(settings.root, options)]
    return Selection(
        tuple((settings, tuple(sorted(files))) for settings, files in ordered),
        missing=tuple(finder.missing),
        notes=tuple(finder.notes),
        whole=frozenset(path.resolve() for path in paths if path.is_dir()),
        errors=tuple(finder.errors.values()),
    )


class _Finder:
    """One search for files, each with the settings of its root."""

    def __init__(self, paths: Sequence[Path], options: RunOptions) -> None:
        self._roots = Roots([*(path for path in paths if path.is_dir()), *options.folders])
        self._options = options
        self.found: dict[Path, None] = {}
        self.missing: list[Path] = []
        self.notes: list[Note] = []
        self.errors: dict[str, TorchlintError] = {}
        """By what they say: files of one root share theirs."""
        self._settings_of_root = functools.cache(self._read)
        self._forced_out_by = functools.cache(self._forcing)

    def add(self, path: Path, *, is_there: bool = True) -> None:
        """Look for the files of a path that the user named."""
        settings = None if self._is_forced_out(path) else self.settings_of(path)
        if settings is not None and not is_there:
            if not _forces_out(settings, os.path.abspath(path)):  # noqa: PTH100 - links stay as the user gave them
                self.found[path] = None
        elif settings is not None:
            discovery = discover(
                [path], exclude=settings.exclude, force_exclude=settings.force_exclude, root=settings.root
            )
            self.found.update(dict.fromkeys(discovery.files))
            self.missing += discovery.missing
            self.notes += discovery.skipped

    def settings_of(self, path: Path) -> Settings | None:
        """Those of the path's root; None, and an error more, where they cannot be read."""
        try:
            return self._settings_of_root(self._roots.of(path))
        except TorchlintError as error:
            self.errors.setdefault(str(error), error)
            return None

    def _read(self, root: Path) -> Settings:
        return _settings(root, self._options)

    def _is_forced_out(self, path: Path) -> bool:
        """Whether a configuration on the way down to a path forces it out: what lies deeper down is not asked then."""
        full = os.path.abspath(path)  # noqa: PTH100 - links stay as the user gave them
        forcing = filter(None, map(self._forced_out_by, reversed(Path(full).parents)))
        return any(_forces_out(settings, full) for settings in forcing)

    def _forcing(self, folder: Path) -> Settings | None:
        """The settings that a folder holds."""
        try:
            settings = _settings(folder, self._options)
        except TorchlintError:
            return None  # said where it is the nearest one
        return settings if settings.config_file is not None and settings.config_file.parent == folder else None


def _forces_out(settings: Settings, full: str) -> bool:
    """Whether these settings leave out an absolute path although the user named it."""
    return settings.force_exclude and covers_any_part(settings.exclude, settings.root, full)


def list_roots(paths: Sequence[Path], options: RunOptions) -> tuple[Root, ...]:
    """Each root that a check of these paths would have, with the torch that its files are judged for."""
    groups = select_files(paths, options, {}).complete().groups
    if not groups:
        roots = Roots(path for path in paths if path.is_dir())
        asked = dict.fromkeys(_settings(roots.of(path), options) for path in paths)
        groups = tuple((settings, ()) for settings in asked)
    found = []
    for settings, files in groups:
        alone_in = settings.root if _are_alone(settings) else None
        project = ProjectRun(settings, load_catalogue(settings.extensions), files, {}, alone_in=alone_in)
        targets = Counter(map(project.project().target_for, project.files or ("",)))
        found.append(Root(settings, targets, tuple(_misspelt(settings.root, options))))
    return tuple(found)


def _misspelt(root: Path, options: RunOptions) -> Iterator[Note]:
    """Where the configuration is searched for, a note for each that is written so that it is not found."""
    for path, what in misspelt(root) if options.config is None and not options.isolated else ():
        yield Note(what, shown_path(path.parent, path.name))


def _settings(root: Path, options: RunOptions) -> Settings:
    return load_settings(root, options.overrides, config=options.config, isolated=options.isolated)


def run(paths: Sequence[Path], options: RunOptions, contents: Mapping[Path, bytes] | None = None) -> Report:
    """Check files and folders. Raises TorchlintError for what the user must fix first."""
    selection, baselines = _with_baselines(select_files(paths, options, contents or {}), options)
    changes = _changes(selection, options, contents or {})
    narrowings = [Narrowing(baseline, changes) for baseline in baselines]
    projects = project_runs(selection, options, contents or {})
    reports = [project.report(narrowing) for project, narrowing in zip(projects, narrowings, strict=True)]
    return _merged(reports, selection)


def project_runs(
    selection: Selection, options: RunOptions, contents: Mapping[Path, bytes] | None = None
) -> Iterator[ProjectRun | IsolatedRun]:
    """The roots of a selection, one after the other."""
    total = sum(len(files) for _, files in selection.groups)
    done = 0

    def progress() -> None:
        nonlocal done
        done += 1
        if options.progress is not None:
            options.progress(done, total)

    for settings, files in selection.groups:
        kind: type[ProjectRun | IsolatedRun] = ProjectRun
        if _are_alone(settings):
            from torchlint.engine.isolated import IsolatedRun  # noqa: PLC0415 - few checks ask for it

            kind = IsolatedRun
        catalogue = load_catalogue(settings.extensions)
        is_whole = settings.root.resolve() in selection.whole
        yield kind(
            settings,
            catalogue,
            files,
            contents or {},
            execution=Execution(options.jobs, progress, options.cache),
            is_whole=is_whole,
        )


def _are_alone(settings: Settings) -> bool:
    """Whether no file of a root knows another: asked for, or modules that lie among installed packages."""
    return settings.isolated_facts or (settings.config_file is None and holds_installed(settings.root))


def _changes(selection: Selection, options: RunOptions, contents: Mapping[Path, bytes]) -> Changes | None:
    """Raises ConfigError before the work begins."""
    if options.since is None:
        return None
    changes = Changes(options.since, contents)
    changes.require(selection.files)
    return changes


def _with_baselines(selection: Selection, options: RunOptions) -> tuple[Selection, list[Baseline | None]]:
    """The roots whose baseline can be read, and these. Raises the error where none is left."""
    groups, baselines, errors = [], [], list(selection.errors)
    for settings, files in selection.groups:
        try:
            baselines.append(_baseline(settings, options))
        except TorchlintError as error:
            errors.append(error)
        else:
            groups.append((settings, files))
    if errors and not groups:
        raise errors[0]
    refuse_shared([baseline.path for baseline in baselines if baseline])
    return replace(selection, groups=tuple(groups), errors=tuple(errors)), baselines


def _baseline(settings: Settings, options: RunOptions) -> Baseline | None:
    """None as well where the question is what another mode would do: known findings are part of the answer."""
    return baseline_of(settings) if options.baseline and not settings.assume_deterministic else None


def _merged(reports: Sequence[Report], selection: Selection) -> Report:
    missing = [Note("no such file or folder", str(path)) for path in selection.missing]
    wrong = [Note(mistake) for settings, _ in selection.groups for _, mistake in settings.verify_mistakes]
    notes = [*missing, *wrong, *selection.notes, *(note for report in reports for note in report.notes)]
    return Report(
        diagnostics=tuple(sorted((d for r in reports for d in r.diagnostics), key=lambda d: d.sort_key)),
        notes=tuple(dict.fromkeys(notes)),
        internal_errors=tuple(e for report in reports for e in report.internal_errors),
        files=tuple(sorted(file for report in reports for file in report.files)),
        programs=tuple(sorted(program for report in reports for program in report.programs)),
        suppressed=sum(report.suppressed for report in reports),
        assumed_torch=max((report.assumed_torch for report in reports), key=len, default=""),
        hidden=sum(report.hidden for report in reports),
        known=sum(report.known for report in reports),
        unchanged=sum(report.unchanged for report in reports),
        errors=tuple(map(str, selection.errors)),
    )
