"""What is left of each file's drafts once the project has spoken and the user's ignores are applied."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.registration import Check, ProgramCheck
from torchlint.diagnostics import Diagnostic, InternalError, Note
from torchlint.engine.analysis import FileResult
from torchlint.engine.judgement import judge
from torchlint.engine.path_ignores import PathIgnores
from torchlint.engine.program_findings import program_drafts
from torchlint.engine.suppression import Suppressor
from torchlint.project.index import Project


@dataclass(slots=True)
class Outcome:
    """The findings of a run, and what happened to the others."""

    diagnostics: list[Diagnostic] = field(default_factory=list)
    internal_errors: list[InternalError] = field(default_factory=list)
    suppressed: int = 0
    cured: int = 0
    """Under `--assume deterministic`: findings that the mode would end."""

    @classmethod
    def of_all(cls, outcomes: Iterable[Outcome]) -> Outcome:
        """Of several projects together."""
        total = cls()
        for one in outcomes:
            total.diagnostics += one.diagnostics
            total.internal_errors += one.internal_errors
            total.suppressed += one.suppressed
            total.cured += one.cured
        return total


class Court:
    """Judges the drafts of one project's files."""

    def __init__(
        self,
        project: Project,
        checks: Mapping[str, Check],
        program_checks: Sequence[ProgramCheck] = (),
        holders: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._project = project
        self._checks = checks
        self._program_checks = [check for check in program_checks if check.codes & project.settings.selected]
        self._settings = project.settings
        self._path_ignores = PathIgnores(project.settings, project.root, holders)
        self._unassumed = dataclasses.replace(
            project, settings=dataclasses.replace(project.settings, assume_deterministic=False, determinism="off")
        )
        self.outcome = Outcome()

    def hear(self, result: FileResult) -> None:
        """Add what one file has to say to the outcome."""
        self.outcome.internal_errors += result.internal_errors
        suppressor = Suppressor(result.comments, self._settings, self._project.catalogue)
        said = self._judge_all(result.drafts, result.shown, suppressor)
        programs, errors = program_drafts(result, self._program_checks, self._project)
        rules = self._project.catalogue.rules
        left = [draft for draft in programs if said.isdisjoint(rules[draft.code].gives_way_to)]
        self._judge_all(left, result.shown, suppressor)
        self.outcome.internal_errors += errors
        if "TL002" in self._settings.selected:
            self._judge_all(tuple(suppressor.unused(result.path)), result.shown, suppressor)

    def _judge_all(self, drafts: Sequence[Draft], shown: str, suppressor: Suppressor) -> set[str]:
        """Judge drafts, and tell the codes of those that hold, silenced or not."""
        said: set[str] = set()
        for draft in drafts:
            if draft.code not in self._settings.selected:
                continue
            try:
                diagnostic = self._judged(draft)
            except Exception as error:  # noqa: BLE001 - one broken judge must not take the others down; it is reported
                broken = InternalError(draft.check, shown, f"{type(error).__name__}: {error}")
                self.outcome.internal_errors.append(broken)
                continue
            if diagnostic is None:
                continue
            said.add(diagnostic.code)
            silenced = suppressor.silences(diagnostic, draft.lines)
            if self._path_ignores.silences(diagnostic.code, draft.path) or silenced:
                self.outcome.suppressed += 1
            else:
                self.outcome.diagnostics.append(diagnostic)
        return said

    def _judged(self, draft: Draft) -> Diagnostic | None:
        check = self._checks.get(draft.check)
        diagnostic = judge(draft, check, self._project)
        if diagnostic is None and self._settings.assume_deterministic and draft.operators:
            self.outcome.cured += judge(draft, check, self._unassumed) is not None
        return diagnostic


def assumption_note(outcome: Outcome) -> Note:
    """What `--assume deterministic` found out: what the mode would end, and what it would turn into an exception."""
    raising = {
        (d.location.path, d.location.cell, d.location.line): d.variant
        for d in sorted(outcome.diagnostics, key=lambda d: d.variant, reverse=True)
        if d.variant.startswith("raises_on")
    }
    older = sum(variant.endswith("_older") for variant in raising.values())
    cured = f"{outcome.cured} finding{'' if outcome.cured == 1 else 's'}"
    lines = f"{len(raising)} line{'' if len(raising) == 1 else 's'}"
    on_older = f" ({older} on older releases alone)" if older else ""
    return Note(f"with the determinism mode on: it would cure {cured}, and {lines} would raise{on_older}")
