"""What checks of one project may cost, in counted work. A change that needs more says so here, and why."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.budgets.counting import Work, work_of
from tests.budgets.project import MODULES, write
from torchlint.engine.cache.results import ResultCache

FILES = 2 * MODULES + 3
PARSED, QUESTIONS, BYTES_A_LINE = FILES + 5, 6_500, 48
"""Of a cold check: trees, questions, bytes of summaries a line."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write(tmp_path)


def on_disk() -> ResultCache:
    return ResultCache(is_on_disk=True)


def test_a_cold_check(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file is parsed once: trees that judges ask are at hand; no neighbour is read."""
    monkeypatch.chdir(project)  # summaries hold paths as they are shown
    work = work_of(Path())
    assert FILES <= work.parsed <= PARSED
    assert QUESTIONS // 2 < work.questions <= QUESTIONS
    assert BYTES_A_LINE / 2 < work.bytes / work.lines <= BYTES_A_LINE


def test_a_cold_check_of_long_files(project: Path) -> None:
    """Three million characters: all trees stay at hand."""
    for path in project.rglob("*.py"):
        path.write_text(f"{path.read_text()}# {60_000 * '-'}\n")
    assert FILES <= work_of(project).parsed <= PARSED


def test_nothing_changed(project: Path) -> None:
    work_of(project, on_disk())
    assert work_of(project, on_disk()) == Work()


def test_a_body_changed(project: Path) -> None:
    """That file alone is parsed, and no file that imports it."""
    work_of(project, on_disk())
    path = project / "net" / "parts7.py"
    path.write_text(path.read_text().replace("padding=1)", "padding=1, bias=False)"))
    work = work_of(project, on_disk())
    assert work.parsed <= 4
    assert work.questions <= QUESTIONS // 20


def test_one_file_of_a_project_that_was_checked(project: Path) -> None:
    work_of(project, on_disk())
    path = project / "net" / "parts7.py"
    path.write_text(path.read_text() + "\n")
    assert work_of(path, on_disk()).parsed <= 4
    assert work_of(path, on_disk()) == Work()
