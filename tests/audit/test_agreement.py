"""`check` and `audit` never contradict each other: what one calls a reason, the other does not call well."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.programs import Program, all_programs, check
from torchlint.api import CheckOptions, audit_paths
from torchlint.audit.page import Audit, Light, Line
from torchlint.diagnostics import Report

_ABOUT_PROGRAMS = ("TL210", "TL213", "TL301", "TL303")
_GENERATORS = {"torch", "numpy.random", "random"}
PROGRAMS = [
    program
    for program in all_programs()
    if program.name.startswith("programs/") or program.name.partition("/")[0] in _ABOUT_PROGRAMS
]


@pytest.mark.parametrize("program", PROGRAMS, ids=[program.name for program in PROGRAMS])
def test_check_and_audit_agree(program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("torchlint.project.outside.Outside.installed_torch", lambda *_: "")
    checked, audited = check(Path()), audit_paths((), CheckOptions(jobs=1))
    assert [*_reds_without_a_finding(checked, audited), *_findings_called_well(checked, audited)] == []


def _reds_without_a_finding(checked: Report, audited: Audit) -> Iterator[str]:
    """A page's red line that `check` says nothing of."""
    said = {found.code for found in checked.diagnostics}
    for page in audited.pages:
        for line in _lines(page.sections):
            if line.light is Light.RED and line.code not in said:
                yield f"{page.subject.name}: {line.label}: {line.text} [{line.code}]"


def _findings_called_well(checked: Report, audited: Audit) -> Iterator[str]:
    """A finding about a program whose page says it nowhere, or calls well what it is about."""
    for found in checked.diagnostics:
        if found.code in _ABOUT_PROGRAMS:
            pages = [page for page in audited.pages if page.subject.start.location.path == found.location.path]
            lights = [line.light for page in pages for line in _lines(page.sections) if line.code == found.code]
            if not set(lights) & {Light.RED, Light.AMBER}:
                yield f"{found.location}: {found.code}: {lights}"


def _lines(sections: tuple[object, ...]) -> Iterator[Line]:
    for section in sections:
        yield from section.lines  # type: ignore[attr-defined]
