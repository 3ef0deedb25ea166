"""Programs are checked many at once: each lies in a folder of its own, which is a project of its own."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.harness.programs import Program, hits, lint
from tests.transport.programs import Files, Place, program
from tests.transport.reading import AS_IT_IS, CASES, Case, Swap, ways_of

NEAR_MISS_WAY = "local"
"""Near misses do something to a name before it is used."""


@functools.cache
def found_on_ways(name: str, swap: Swap = AS_IT_IS) -> Mapping[str, list[Place]]:
    """Where a rule reports, for each way."""
    case = CASES[name]
    return _found(name, case, {way: program(case, way, swap) for way in ways_of(case)})


@functools.cache
def found_on_near_misses(name: str) -> Mapping[str, list[Place]]:
    """Where a rule reports, for each near miss."""
    case = CASES[name]
    return _found(name, case, {miss: near_miss(case, miss) for miss in case.near_misses})


def near_miss(case: Case, miss: str) -> Files:
    return program(case, NEAR_MISS_WAY, case.near_misses[miss])


def _found(name: str, case: Case, programs: Mapping[str, Files]) -> Mapping[str, list[Place]]:
    settings = f'extend-select = ["{case.select}"]\n' if case.select else ""
    files = {
        f"{folder}/{path}": text.encode()
        for folder, own in programs.items()
        for path, text in {"torchlint.toml": settings, **own}.items()
    }
    found: dict[str, list[Place]] = {folder: [] for folder in programs}
    with tempfile.TemporaryDirectory() as root:
        report = lint(Program(name, files), Path(root))
        for hit in hits(report, Path(root)):
            if hit.code == (case.code or name):
                folder, _, path = hit.path.partition("/")
                found[folder].append((path, hit.line))
    return found
