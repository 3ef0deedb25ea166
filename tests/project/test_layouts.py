"""The layouts that people have, without a configuration or a repository: `fixtures/layouts`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness.programs import Program, all_programs, check, fixture, hits
from torchlint import api

LAYOUTS = [program for program in all_programs() if program.name.startswith("layouts/")]
ALONE = [program for program in LAYOUTS if program.name not in ("layouts/kaggle", "layouts/course")]
"""Without any marker a file named alone knows the files of its own folder only."""


def bare(program: Program, folder: Path) -> Path:
    """The program as it is, without the configuration that the harness adds."""
    for path, data in program.files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    return folder


@pytest.mark.parametrize("program", LAYOUTS, ids=lambda program: program.name)
def test_a_named_folder_finds_what_is_marked(program: Program, tmp_path: Path) -> None:
    found = hits(check(bare(program, tmp_path)), tmp_path)
    marked = sorted((mark.path, mark.cell, mark.line, mark.code) for mark in program.marks)
    assert [(hit.path, hit.cell, hit.line, hit.code) for hit in found] == marked


@pytest.mark.parametrize("program", ALONE, ids=lambda program: program.name)
def test_a_file_named_alone_gives_its_lines_of_the_whole_run(program: Program, tmp_path: Path) -> None:
    whole = check(bare(program, tmp_path))
    for path in whole.files:
        alone = check(Path(path))
        assert [d.message for d in alone.diagnostics] == [
            d.message for d in whole.diagnostics if d.location.path == path
        ]


def test_the_torch_that_findings_rest_on_is_told_where_nothing_pins_one(tmp_path: Path) -> None:
    assumed = {
        program.name.removeprefix("layouts/"): check(bare(program, tmp_path / program.name)).assumed_torch
        for program in LAYOUTS
        if program.name in ("layouts/kaggle", "layouts/zip", "layouts/course")
    }
    assert assumed == {"kaggle": "2.15", "zip": "", "course": ""}


def test_audit_shows_the_target_and_the_file_that_says_so(tmp_path: Path) -> None:
    folder = bare(fixture("layouts/conda"), tmp_path)
    (page,) = api.audit_paths([str(folder / "train.py")]).pages
    texts = [line.text for section in page.sections for line in section.lines]
    assert page.subject.torch == "1.6"
    assert "1.6 (environment.yml: torch==1.6.*)" in texts
    assert "varies, and this torch has no determinism mode" in texts
