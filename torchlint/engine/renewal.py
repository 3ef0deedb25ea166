"""What `torchlint baseline` writes: the known findings of each root, brought up to date."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from torchlint.adoption.baseline import Baseline, baseline_path, entries_for, refuse_shared
from torchlint.adoption.comparison import Scope, compare
from torchlint.config import Settings
from torchlint.diagnostics import InternalError, Note, Report
from torchlint.engine.run import RunOptions, project_runs, select_files
from torchlint.fingerprints import path_from


class Renewal(msgspec.Struct, frozen=True):
    """The baseline of one root as it is to be, and what that changes."""

    baseline: Baseline
    added: int
    dropped: int


class Renewals(msgspec.Struct, frozen=True):
    """Of a whole run; nothing is written where a check broke."""

    renewed: tuple[Renewal, ...]
    notes: tuple[Note, ...]
    internal_errors: tuple[InternalError, ...]


def renewals(paths: Sequence[Path], options: RunOptions, *, prune: bool) -> Renewals:
    """Check the paths and compare with the baselines there are; with `prune` only those are renewed."""
    selection = select_files(paths, options, {}).complete()
    refuse_shared([baseline_path(settings) for settings, _ in selection.groups])
    old = {settings.root: _existing(settings) for settings, _ in selection.groups}
    renewed: list[Renewal] = []
    notes: list[Note] = list(selection.notes)
    errors: list[InternalError] = []
    for project in project_runs(selection, options):
        before = old[project.settings.root]
        if before is None and prune:
            continue
        report = project.report()
        notes += report.notes
        errors += report.internal_errors
        renewed.append(_renewal(before or Baseline(baseline_path(project.settings)), report, project.settings, prune))
    return Renewals(tuple(renewed), tuple(dict.fromkeys(notes)), tuple(errors))


def _existing(settings: Settings) -> Baseline | None:
    path = baseline_path(settings)
    return Baseline.read(path) if path.exists() else None


def _renewal(old: Baseline, report: Report, settings: Settings, prune: bool) -> Renewal:  # noqa: FBT001 - passed on
    files = {path_from(settings.root, shown) for shown in report.files}
    comparison = compare(old, report.diagnostics, Scope(settings.root, files, settings.selected))
    kept = [found for found in report.diagnostics if not prune or found.fingerprint in comparison.known]
    entries = {*entries_for(kept, settings.root), *comparison.unjudged}
    return Renewal(
        Baseline(old.path, tuple(sorted(entries))),
        added=sum(found.fingerprint not in comparison.known for found in kept),
        dropped=len(comparison.stale),
    )
