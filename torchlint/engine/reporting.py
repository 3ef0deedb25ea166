"""From what the projects of one root say to the report: fingerprints, what is shown of it, fixes and notes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from torchlint.adoption.comparison import Scope
from torchlint.catalogue import Catalogue
from torchlint.catalogue.versions import TorchTarget
from torchlint.config import Settings
from torchlint.diagnostics import Diagnostic, Note, Report
from torchlint.engine.fixes import choose_fixes
from torchlint.engine.narrowing import Narrowing, with_fingerprints
from torchlint.engine.outcomes import Outcome, assumption_note


@dataclass(frozen=True, slots=True)
class Hearing:
    """All that files of one project say, before anything is left out."""

    outcome: Outcome
    notes: tuple[Note, ...] = ()
    paths: frozenset[str] = frozenset()
    """The files that were checked, from the root of the settings."""
    targets: Mapping[str, TorchTarget] = field(default_factory=dict)
    """The torch that they were judged for, by the file as shown to the user."""
    programs: tuple[str, ...] = ()
    """The files that start programs, as shown to the user, where any of the files trains."""


def reported(hearings: Sequence[Hearing], settings: Settings, catalogue: Catalogue, narrowing: Narrowing) -> Report:
    """The report of one root. Of several hearings each is about a file that was a project of its own."""
    outcome = Outcome.of_all(hearing.outcome for hearing in hearings)
    targets = {shown: target for hearing in hearings for shown, target in hearing.targets.items()}
    found = with_fingerprints(outcome.diagnostics, settings.root)
    visible = [diagnostic for diagnostic in found if _is_shown(diagnostic, settings)]
    read = {path for hearing in hearings for path in hearing.paths}
    left = narrowing.apply(visible, found, Scope(settings.root, read, settings.selected))
    notes = [*(note for hearing in hearings for note in hearing.notes), *left.notes]
    if settings.assume_deterministic:
        notes.append(assumption_note(outcome))
    return Report(
        diagnostics=tuple(
            sorted(_with_fixes(left.diagnostics, catalogue, are_alone=len(hearings) > 1), key=lambda d: d.sort_key)
        ),
        left_open=tuple(_left_open(outcome)),
        notes=tuple(notes),
        internal_errors=tuple(sorted(outcome.internal_errors, key=lambda error: (error.path, error.check))),
        files=tuple(sorted(targets)),
        programs=tuple(sorted(program for hearing in hearings for program in hearing.programs)),
        suppressed=outcome.suppressed,
        hidden=len(found) - len(visible),
        assumed_torch=max((diagnostic.judged_for for diagnostic in visible), key=len, default=""),
        known=left.known,
        unchanged=left.unchanged,
    )


def _left_open(outcome: Outcome) -> list[Diagnostic]:
    """The points that no finding of the same rule stands at."""
    found = {(one.code, one.location) for one in outcome.diagnostics}
    left = (one for one in outcome.open if (one.code, one.location) not in found)
    return sorted(left, key=lambda one: one.sort_key)


def _is_shown(diagnostic: Diagnostic, settings: Settings) -> bool:
    return diagnostic.severity >= settings.min_severity and diagnostic.confidence >= settings.min_confidence


def _with_fixes(diagnostics: Sequence[Diagnostic], catalogue: Catalogue, *, are_alone: bool) -> list[Diagnostic]:
    """Fixes are chosen among the findings of one project."""
    projects: dict[str, list[Diagnostic]] = defaultdict(list)
    for diagnostic in diagnostics:
        projects[diagnostic.location.path if are_alone else ""].append(diagnostic)
    return [fixed for project in projects.values() for fixed in choose_fixes(project, catalogue)]
