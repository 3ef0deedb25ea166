"""What is left of each file's drafts once the project has spoken and the user's ignores are applied."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import msgspec

from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.registration import Check, ProgramCheck
from torchlint.diagnostics import Diagnostic, InternalError, Related
from torchlint.engine.analysis import PYTHON_2, FileResult
from torchlint.engine.hearing import Outcome
from torchlint.engine.judgement import judge
from torchlint.engine.path_ignores import PathIgnores
from torchlint.engine.program_findings import program_drafts
from torchlint.engine.suppression import Suppressor
from torchlint.errors import OverBudget
from torchlint.project.index import Project

_MOST_NAMED = 8


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

    def hear(self, result: FileResult) -> Outcome:
        """What one file has to say."""
        suppressor = Suppressor(result.comments, self._settings, self._project.catalogue)
        outcome = Outcome(internal_errors=list(result.internal_errors))
        said = self._judge_all(result.drafts, result.shown, suppressor, outcome)
        programs, errors = program_drafts(result, self._program_checks, self._project)
        rules = self._project.catalogue.rules
        left = [draft for draft in programs if said.isdisjoint(rules[draft.code].gives_way_to)]
        self._judge_all(left, result.shown, suppressor, outcome)
        outcome.internal_errors += errors
        if "TL002" in self._settings.selected:
            self._judge_all(tuple(suppressor.unused(result.path)), result.shown, suppressor, outcome)
        return outcome

    def hear_python_2(self, results: Sequence[FileResult]) -> Outcome:
        """One line for the files that Python 2 alone reads, at the first."""
        outcome, silences = Outcome(), self._path_ignores.silences
        found = (draft for result in results for draft in result.drafts if draft.message == PYTHON_2)
        old = [draft for draft in found if not silences(draft.code, draft.path)]
        if old:
            shown = [draft.location.path for draft in old]
            rest = [f"and {len(shown) - _MOST_NAMED} more"] if len(shown) > _MOST_NAMED else []
            values = {
                "files": ", ".join([*shown[:_MOST_NAMED], *rest]),
                "they": "1 file is" if len(old) == 1 else f"{len(old)} files are",
                "were": "was" if len(old) == 1 else "were",
            }
            related = tuple(Related(draft.location, "Python 2 as well") for draft in old[1:])
            told = msgspec.structs.replace(old[0], values=values, related=related)
            self._judge_all([told], told.path, Suppressor((), self._settings, self._project.catalogue), outcome)
        return outcome

    def _judge_all(self, drafts: Sequence[Draft], shown: str, suppressor: Suppressor, outcome: Outcome) -> set[str]:
        """Judge drafts, and tell the codes of those that hold, silenced or not."""
        said: set[str] = set()
        for draft in drafts:
            if draft.code not in self._settings.selected or (
                draft.message == PYTHON_2 and not draft.values.get("they")
            ):
                continue
            try:
                diagnostic = self._judged(draft, outcome)
            except OverBudget:
                continue  # as where a search is too long: then nothing is found
            except Exception as error:  # noqa: BLE001 - one broken judge must not take the others down; it is reported
                broken = InternalError(draft.check, shown, f"{type(error).__name__}: {error}")
                outcome.internal_errors.append(broken)
                continue
            if diagnostic is None:
                continue
            if not draft.is_open:
                said.add(diagnostic.code)
            silenced = suppressor.silences(diagnostic, draft.lines)
            if self._path_ignores.silences(diagnostic.code, draft.path) or silenced:
                outcome.suppressed += not draft.is_open
            else:
                (outcome.open if draft.is_open else outcome.diagnostics).append(diagnostic)
        return said

    def _judged(self, draft: Draft, outcome: Outcome) -> Diagnostic | None:
        check = self._checks.get(draft.check)
        diagnostic = judge(draft, check, self._project)
        if diagnostic is None and self._settings.assume_deterministic and draft.operators:
            outcome.fixed += judge(draft, check, self._unassumed) is not None
        return diagnostic
