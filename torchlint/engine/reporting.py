"""From what the projects of one root say to the report: fingerprints, what is shown of it, fixes and notes."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Sequence

from torchlint.adoption.comparison import Scope
from torchlint.catalogue import Catalogue
from torchlint.config import Settings
from torchlint.diagnostics import Diagnostic, Note, Report
from torchlint.engine.fixes import choose_fixes
from torchlint.engine.hearing import Hearing, Outcome
from torchlint.engine.narrowing import Narrowing, with_fingerprints


def reported(hearings: Sequence[Hearing], settings: Settings, catalogue: Catalogue, narrowing: Narrowing) -> Report:
    """The report of one root. Of several hearings each is about a file that was a project of its own."""
    outcome = Outcome.of_all(hearing.outcome for hearing in hearings)
    targets = {shown: target for hearing in hearings for shown, target in hearing.targets.items()}
    found = with_fingerprints(outcome.diagnostics, settings.root)
    visible = [diagnostic for diagnostic in found if _is_shown(diagnostic, settings)]
    read = {path for hearing in hearings for path in hearing.paths}
    left = narrowing.apply(visible, found, Scope(settings.root, read, settings.selected))
    chosen = [_with_safety(diagnostic, settings, catalogue) for diagnostic in left.diagnostics]
    notes = [*(note for hearing in hearings for note in hearing.notes), *left.notes]
    if settings.assume_deterministic:
        notes.append(_assumption_note(outcome))
    return Report(
        diagnostics=tuple(
            sorted(_with_fixes(chosen, catalogue, are_alone=len(hearings) > 1), key=lambda d: d.sort_key)
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


def _with_safety(diagnostic: Diagnostic, settings: Settings, catalogue: Catalogue) -> Diagnostic:
    """A finding with what its rule says of automatic fixes; the code at hand is not looked at."""
    fix = catalogue.rules[diagnostic.code].fix
    is_of_operator = not fix.operators or not {*fix.operators}.isdisjoint(diagnostic.operators)
    is_said = not fix.messages or diagnostic.variant in fix.messages
    is_built_in = diagnostic.code.startswith("TL")  # rules of the user's own say what to do, in words
    if not (is_built_in and fix.is_automatic and is_of_operator and is_said and diagnostic.code in settings.fixable):
        return diagnostic
    return dataclasses.replace(diagnostic, fix_safety=fix.safety)


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


def _assumption_note(outcome: Outcome) -> Note:
    """What `--assume deterministic` found out: what the mode would end, and what it would turn into an exception."""
    raising = {
        (d.location.path, d.location.cell, d.location.line): d.variant
        for d in sorted(outcome.diagnostics, key=lambda d: d.variant, reverse=True)
        if d.variant.startswith("raises_on")
    }
    older = sum(variant.endswith("_older") for variant in raising.values())
    fixed = f"{outcome.fixed} finding{'' if outcome.fixed == 1 else 's'}"
    lines = f"{len(raising)} line{'' if len(raising) == 1 else 's'}"
    on_older = f" ({older} on older releases alone)" if older else ""
    return Note(f"with the determinism mode on: it would fix {fixed}, and {lines} would raise{on_older}")
