"""What is checked together is checked as it is alone, in any order, in any number of processes."""

from __future__ import annotations

import dataclasses
import json
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from tests.cli.command import clean_environment
from tests.harness.marks import Hit
from tests.harness.programs import Program, check, hits, lint
from tests.invariants.rewriting import RUFF, reformat
from tests.invariants.samples import PROGRAMS, real_packages, run_over
from torchlint.api import CheckOptions
from torchlint.catalogue import load_catalogue
from torchlint.checks.framework.registration import all_checks, all_program_checks
from torchlint.diagnostics import Diagnostic, Report

REPOSITORY = Path(__file__).parents[2]
FOLDERS = [program for program in PROGRAMS if program.is_folder]
SPECIFIED = ("--torch", ">=2.1,<2.14", "--min-confidence", "low", "--output-format", "json")
"""Settings that do not depend on what is installed beside the tests."""
_PARTS = 2
"""Into so many runs the files of one project are dealt out."""


def without_fixes(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The fixes close a run: which of them is the shortest way depends on all its findings."""
    return [dataclasses.replace(diagnostic, fix=None) for diagnostic in diagnostics]


def lines_of(report: Report, path: str) -> list[Diagnostic]:
    return without_fixes(diagnostic for diagnostic in report.diagnostics if diagnostic.location.path == path)


def command(arguments: Sequence[str | Path], cwd: Path, poisoned: Path, **environment: str) -> str:
    """What a run prints whose Python finds packages in `poisoned` first."""
    done = subprocess.run(
        [sys.executable, "-m", "torchlint", "check", *map(str, arguments)],
        cwd=cwd,
        env=clean_environment(PYTHONPATH=os.pathsep.join([str(poisoned), str(REPOSITORY)]), **environment),
        capture_output=True,
        check=False,
        timeout=600,
    )
    assert done.returncode in (0, 1), done.stderr.decode()
    return done.stdout.decode()


@pytest.mark.parametrize("number", range(_PARTS))
def test_some_files_give_the_lines_that_the_project_run_gives_for_them(
    everything: Path, whole: Report, number: int
) -> None:
    some = whole.files[number::_PARTS]
    part = run_over(everything, map(Path, some))
    for path in some:
        assert lines_of(part, path) == lines_of(whole, path)


CHECKS = [(check.codes(load_catalogue()), check.asks) for check in all_checks() if not check.is_open]
CHECKS += [(check.codes, check.asks) for check in all_program_checks()]
ASKED = sorted({extract.name for _, asks in CHECKS for extract in asks})


def rules_asking(name: str | None) -> frozenset[str]:
    """The rules that ask for an extract; for None those that ask for none."""
    every = frozenset[str]().union(*(codes for codes, _ in CHECKS))
    asking = [codes for codes, asks in CHECKS if any(name in (None, extract.name) for extract in asks)]
    found = frozenset[str]().union(*asking)
    return every - found if name is None else found


@pytest.mark.parametrize("name", [None, *ASKED])
def test_rules_read_what_they_ask_for(name: str | None, everything: Path, whole: Report) -> None:
    """What no selected rule asks for is not taken, and who reads it nevertheless fails."""
    codes = rules_asking(name)
    found = {diagnostic.code for diagnostic in run_over(everything, select=codes).diagnostics}
    assert found == codes & {diagnostic.code for diagnostic in whole.diagnostics}


@pytest.mark.parametrize("program", FOLDERS, ids=[program.name for program in FOLDERS])
def test_one_file_of_a_project_is_judged_by_the_whole_project(program: Program, tmp_path: Path) -> None:
    whole = lint(program, tmp_path)
    for path in whole.files:
        assert lines_of(check(Path(path)), path) == lines_of(whole, path)


def test_jobs_order_and_hash_seed_change_no_byte_and_nothing_of_the_user_is_imported(
    everything: Path, tmp_path: Path
) -> None:
    for name in ("torch", "numpy", "lightning", "transformers"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('imported')\n")
    files = sorted(path.relative_to(everything) for path in everything.rglob("*") if path.suffix in (".py", ".ipynb"))
    shuffled = random.Random(7).sample(files, len(files))  # noqa: S311 - any other order will do
    runs = [
        command([".", "--jobs", "1", *SPECIFIED], everything, tmp_path, PYTHONHASHSEED="0"),
        command([".", "--jobs", "2", *SPECIFIED], everything, tmp_path, PYTHONHASHSEED="random"),
        command([*shuffled, "--jobs", "2", *SPECIFIED], everything, tmp_path, PYTHONHASHSEED="1"),
    ]
    assert len(set(runs)) == 1
    assert len(json.loads(runs[0])) > 100


def without_places(found: Iterable[Hit]) -> Counter[tuple[str, str, str, str]]:
    return Counter((hit.path, hit.code, hit.severity, hit.confidence) for hit in found)


@pytest.mark.skipif(RUFF is None, reason="needs ruff")
@pytest.mark.parametrize("line_length", [50, 200])
def test_reformatting_changes_no_finding(line_length: int, everything: Path, whole: Report, tmp_path: Path) -> None:
    shutil.copytree(everything, tmp_path, dirs_exist_ok=True)
    reformat(tmp_path, line_length)
    before, after = hits(whole, everything), hits(run_over(tmp_path), tmp_path)
    assert without_places(after) == without_places(before)


@pytest.mark.parametrize("folder", real_packages(), ids=lambda folder: folder.name)
def test_one_file_of_a_real_package_gives_its_lines_of_the_whole_run(folder: Path) -> None:
    whole = check(folder, options=CheckOptions())
    with_findings = sorted({d.location.path for d in whole.diagnostics})
    for path in with_findings[:: max(len(with_findings) // 5, 1)]:
        assert lines_of(check(Path(path)), path) == lines_of(whole, path)


def test_hits_are_compared_at_all(everything: Path, whole: Report) -> None:
    assert len({hit.code for hit in hits(whole, everything)}) > 8
