"""Findings about whole programs: they stand in the file that starts the program, and come from summaries alone."""

from __future__ import annotations

from collections.abc import Sequence

from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.registration import ProgramCheck, ProgramFinding
from torchlint.diagnostics import InternalError
from torchlint.engine.analysis import FileResult
from torchlint.project.index import Project


def program_drafts(
    result: FileResult, checks: Sequence[ProgramCheck], project: Project
) -> tuple[list[Draft], list[InternalError]]:
    """What the checks say of the programs that start in a file.

    A file may start several programs, a main guard and commands: what holds of one of them is said once, and a note
    gives way to what is more.
    """
    drafts: dict[tuple[str, str], Draft] = {}
    errors: list[InternalError] = []
    if not checks or not _starts_programs(result, project):
        return [], []
    programs = project.programs_starting_in(result.path)
    for check in checks:
        try:
            for program in programs:
                for finding in check.find(program, project):
                    said = drafts.get((check.name, finding.code))
                    if said is None or (said.severity is not None and finding.severity is None):
                        drafts[check.name, finding.code] = _draft(finding, check, result.path)
        except Exception as error:  # noqa: BLE001 - one broken check must not take the others down; it is reported
            errors.append(InternalError(check.name, result.shown, f"{type(error).__name__}: {error}"))
    return list(drafts.values()), errors


def _starts_programs(result: FileResult, project: Project) -> bool:
    """A cheap look: only then are the project's other files read."""
    if result.summary is None:
        return False
    return bool(result.summary.entries) or any(path == result.path for path, _ in project.scripts)


def _draft(finding: ProgramFinding, check: ProgramCheck, path: str) -> Draft:
    return Draft(
        code=finding.code,
        check=check.name,
        path=path,
        location=finding.place.location,
        source_line=finding.place.source_line,
        lines=finding.place.lines,
        values=finding.values,
        message=finding.message,
        severity=finding.severity,
        confidence=finding.confidence,
        related=finding.related,
        fix=finding.fix,
    )
