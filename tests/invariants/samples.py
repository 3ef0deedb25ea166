"""Code that the invariants are tried on: the fixtures, and real packages where the environment names a folder of them.

TORCHLINT_REAL_PACKAGES=<folder> pytest tests/invariants
"""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from tests.harness.programs import Program, all_programs

PROGRAMS = all_programs()
WITH_SOURCES = [program for program in PROGRAMS if program.sources]


def everything() -> Program:
    """All fixtures as one project, under `determinism` as the code says it."""
    files = {}
    for program in PROGRAMS:
        folder = program.name.removesuffix(".py").removesuffix(".ipynb").replace(".", "_")
        files.update({f"{folder}/{path}": data for path, data in program.files.items() if not path.endswith(".toml")})
    return Program("everything", files, {"torch": ">=2.1,<2.14", "min-confidence": "low"})


def real_packages() -> list[Path]:
    folder = os.environ.get("TORCHLINT_REAL_PACKAGES")
    return sorted(path for path in Path(folder).iterdir() if path.is_dir()) if folder else []


def library_files(count: int) -> Iterator[Path]:
    """Files of the standard library and of what is installed beside it, spread evenly."""
    paths = sysconfig.get_paths()
    for folder in (paths["stdlib"], paths["purelib"]):
        files = sorted(path for path in Path(folder).glob("*/*.py") if path.stat().st_size < 60_000)
        yield from files[:: max(len(files) // (count // 2), 1)][: count // 2]
