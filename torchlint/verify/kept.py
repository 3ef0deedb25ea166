"""Verdicts of earlier runs: kept beside the project, shown by `check`, and forgotten when their code changes."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime as dt
import functools
import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from torchlint.catalogue import load_catalogue
from torchlint.config import Overrides, load_settings
from torchlint.diagnostics import Diagnostic, Report
from torchlint.engine.cache.folders import VERDICTS
from torchlint.engine.cache.store import CACHE, make_folder, replace_file
from torchlint.project.roots import find_root
from torchlint.verify.data import Result, Verification
from torchlint.verify.judging import fingerprint
from torchlint.verify.targets import Planner

FOLDER = Path(CACHE) / VERDICTS
_NEVER_KEPT = frozenset({"SKIPPED"})


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """One verdict and where it was reached."""

    verdict: str
    device: str
    """Its name, as `NVIDIA H200`."""
    torch: str
    date: str
    reason: str
    beside: dict[str, str] = {}
    """Other files whose code may have run for it, each with its checksum."""

    @property
    def is_current(self) -> bool:
        return all(_checksum(path) == known for path, known in self.beside.items())

    def __str__(self) -> str:
        return f"{self.verdict} on {self.device}, torch {self.torch}, {self.date}"


def remember(found: Verification) -> None:
    """Keep the verdicts of a run, each in the folder of its own project. What cannot be written is not kept."""
    environment = found.environment
    if environment is None:
        return
    today = dt.datetime.now(tz=dt.timezone.utc).date().isoformat()
    for result in found.results:
        if result.verdict in _NEVER_KEPT or not result.finding.code:
            continue
        kept = Kept(
            verdict=result.verdict,
            device=environment.devices.get(result.device, result.device),
            torch=environment.torch.partition("+")[0],
            date=today,
            reason=result.reason,
            beside={path: _checksum(path) for path in result.beside},
        )
        with contextlib.suppress(OSError):  # a read-only project has no memory; the run itself is told
            _write(result, kept)


def _write(result: Result, kept: Kept) -> None:
    folder = _root(Path(result.finding.location.path).absolute().parent) / FOLDER
    make_folder(folder)
    target = folder / f"{result.finding.fingerprint}.json"
    replace_file(target, [msgspec.json.encode(kept)])


def _checksum(path: str) -> str:
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError:
        return ""


@functools.cache
def _root(folder: Path) -> Path:
    return find_root(folder)


def with_verdicts(report: Report) -> Report:
    """The report with what earlier runs said about its findings, where the code is still the one that ran."""
    by_folder: dict[Path, list[int]] = defaultdict(list)
    for index, finding in enumerate(report.diagnostics):
        by_folder[_root(Path(finding.location.path).absolute().parent)].append(index)
    verdicts: dict[int, str] = {}
    for root, indices in by_folder.items():
        if (root / FOLDER).is_dir():
            verdicts |= _kept(root, {index: report.diagnostics[index] for index in indices})
    if not verdicts:
        return report
    shown = (
        dataclasses.replace(finding, verdict=verdicts.get(index, ""))
        for index, finding in enumerate(report.diagnostics)
    )
    return dataclasses.replace(report, diagnostics=tuple(shown))


def _kept(root: Path, findings: Mapping[int, Diagnostic]) -> dict[int, str]:
    known = {path.stem for path in (root / FOLDER).glob("*.json")}
    found: dict[int, str] = {}
    for index, mark in _fingerprints(findings):
        if mark in known:
            with contextlib.suppress(OSError, msgspec.DecodeError):  # unreadable is not there
                kept = msgspec.json.decode((root / FOLDER / f"{mark}.json").read_bytes(), type=Kept)
                if kept.is_current:
                    found[index] = str(kept)
    return found


def _fingerprints(findings: Mapping[int, Diagnostic]) -> Iterable[tuple[int, str]]:
    """Of each finding with the code that a run would execute for it."""
    catalogue = load_catalogue()
    planner = Planner(catalogue, catalogue.newest, lambda path: load_settings(path.parent, Overrides()))
    ours = {index: finding for index, finding in findings.items() if planner.probes_of(finding)}
    for plan in planner.plans(ours):
        for probed in plan.findings:
            yield probed.index, fingerprint(ours[probed.index], probed.line, plan.code.text)
