"""Code that the invariants are tried on: the fixtures, and real packages where the environment names a folder of them.

TORCHLINT_REAL_PACKAGES=<folder> pytest tests/invariants
"""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.harness.programs import Program, all_programs
from torchlint.catalogue import load_catalogue
from torchlint.config import Overrides, load_settings
from torchlint.diagnostics import Report
from torchlint.engine.projects import Execution, ProjectRun
from torchlint.source.discovery import discover

PROGRAMS = all_programs()
WITH_SOURCES = [program for program in PROGRAMS if program.sources]


def all_in_one() -> Program:
    """All fixtures as one project, under `determinism` as the code says it."""
    files = {}
    for program in PROGRAMS:
        folder = program.name.removesuffix(".py").removesuffix(".ipynb").replace(".", "_")
        files.update({f"{folder}/{path}": data for path, data in program.files.items() if not path.endswith(".toml")})
    return Program("everything", files, {"torch": ">=2.1,<2.14", "min-confidence": "low"})


def run_over(folder: Path, files: Iterable[Path] = (), select: Iterable[str] = ("ALL",)) -> Report:
    """What all rules say of some files of a project, or of all, whatever torch is installed beside the tests."""
    settings = load_settings(folder, Overrides(select=tuple(select), torch=">=2.1,<2.14"))
    chosen = discover(list(files) or [folder], exclude=(), force_exclude=False, root=folder).files
    report = ProjectRun(settings, load_catalogue(), chosen, {}, execution=Execution(jobs=1)).report()
    assert not report.internal_errors, report.internal_errors
    return report


def real_packages() -> list[Path]:
    folder = os.environ.get("TORCHLINT_REAL_PACKAGES")
    return sorted(path for path in Path(folder).iterdir() if path.is_dir()) if folder else []


def library_files(count: int) -> Iterator[Path]:
    """Files of the standard library and of what is installed beside it, spread evenly."""
    paths = sysconfig.get_paths()
    for folder in (paths["stdlib"], paths["purelib"]):
        files = sorted(path for path in Path(folder).glob("*/*.py") if path.stat().st_size < 60_000)
        yield from files[:: max(len(files) // (count // 2), 1)][: count // 2]
