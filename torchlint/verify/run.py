"""A whole run: findings to targets, targets to processes, answers to verdicts."""

from __future__ import annotations

import dataclasses
import functools
import importlib.metadata
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from torchlint.catalogue import load_catalogue
from torchlint.catalogue.versions import Minor, format_minor, parse_minor
from torchlint.config import Settings, load_settings
from torchlint.diagnostics import Diagnostic, Report
from torchlint.engine.run import RunOptions, run
from torchlint.errors import TorchlintError
from torchlint.project.roots import Roots
from torchlint.recording.messages import Answer, Environment, Executed, Message, Request
from torchlint.recording.names import ProbeName
from torchlint.verify.copies import Copies
from torchlint.verify.data import TargetRun, Verification
from torchlint.verify.holders import Holders
from torchlint.verify.judging import judged, unplanned
from torchlint.verify.other_torch import other_torches
from torchlint.verify.places import Place, chosen
from torchlint.verify.sandbox import Confinement, Limits, Outcome, Sandbox
from torchlint.verify.saved_findings import SavedFinding, still_there
from torchlint.verify.targets import Plan, Planner, asked_for

_OLDEST: Minor = (2, 2)
"""The torch that the recording code was written for, as the extra `verify` asks for it."""

ALL_DEVICES = "all"
OF_NAMED: tuple[ProbeName, ...] = ("trace", "repeat", "strict", "devices", "shapes")
"""What is asked about a target that the user names, where no rule says what to ask."""


@dataclass(frozen=True)
class VerifyOptions:
    """How to run, apart from what to check."""

    check: RunOptions = field(default_factory=RunOptions)
    devices: tuple[str, ...] = (ALL_DEVICES,)
    runs: int = 10
    threads: int = 2
    seconds: float = 60.0
    """For each target, wall time."""
    memory_bytes: int = 4 << 30
    jobs: int = 1
    seed: int = 0
    probes: tuple[ProbeName, ...] = ()
    """Only these; none is all that a rule names."""
    saved: tuple[SavedFinding, ...] | None = None
    """Only these findings of an earlier check."""
    confinement: Confinement | None = None
    """Another protection than that of this system."""
    progress: Callable[[int, int], None] | None = None
    """Called with the number of targets done and of all targets."""


@dataclass(frozen=True)
class Planned:
    """What would be run: known before anything is."""

    report: Report
    findings: dict[int, Diagnostic]
    plans: tuple[Plan, ...]
    without_probe: int
    gone: int = 0
    """Saved findings that are not there any more."""
    roots: Roots = field(default_factory=Roots)
    """Where the projects of the places begin."""


def installed_torch() -> Minor:
    """The torch that the processes will import. Raises TorchlintError where there is none, or one that is too old."""
    try:
        version = importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        raise TorchlintError(
            f"torch is not installed for {sys.executable}: install torch {format_minor(_OLDEST)} or newer there, "
            "or torchlint where your torch is"
        ) from None
    if (found := parse_minor(version)) < _OLDEST:
        raise TorchlintError(f"torch {version} is installed here: verify needs {format_minor(_OLDEST)} or newer")
    return found


def plan(places: Sequence[Place], options: VerifyOptions) -> Planned:
    """Check the places and plan what to run for what was found. Nothing is executed."""
    torch = installed_torch()
    roots = Roots(place.path for place in places if place.path.is_dir())
    report = run([place.path for place in places if place.name is None], options.check)
    found, gone = chosen(report.diagnostics, places), 0
    if options.saved is not None:
        found, gone = still_there(options.saved, found)
    files = [Path(file) for file in report.files]
    settings_of = functools.partial(_settings, options.check, roots)
    catalogue = load_catalogue()
    planner = Planner(catalogue, torch, files, settings_of, options.probes, Holders(catalogue, settings_of))
    findings = {index: each for index, each in enumerate(found) if planner.probes_of(each)}
    plans = planner.plans(findings)
    without_probe = len(found) - len(findings)
    for place in places:
        if place.name is not None:
            first = max(findings, default=-1) + 1
            probes = dict(enumerate(options.probes or OF_NAMED, first))
            plans.append(planner.named(place.path, place.name, probes))
            findings |= {index: asked_for(plans[-1], probe) for index, probe in probes.items()}
    notes = [*report.notes, *other_torches(plans, torch, options.check)]
    return Planned(dataclasses.replace(report, notes=tuple(notes)), findings, tuple(plans), without_probe, gone, roots)


def _settings(check: RunOptions, roots: Roots, path: Path) -> Settings:
    return load_settings(roots.of(path), check.overrides, config=check.config, isolated=check.isolated)


def verify(planned: Planned, options: VerifyOptions) -> Verification:
    """Run every plan in a process of its own and judge what they answer. This executes the user's code."""
    limits = Limits(seconds=options.seconds, memory_bytes=options.memory_bytes)
    confinement = options.confinement or Confinement.of_this_system()
    outcomes: list[_Heard] = []
    with (
        tempfile.TemporaryDirectory(prefix="torchlint-copies-") as folder,
        Sandbox(limits, confinement=confinement) as sandbox,
        ThreadPoolExecutor(max_workers=options.jobs) as pool,
    ):
        copies = Copies(Path(folder), planned.roots)
        plans = planned.plans if confinement.is_sandboxed else map(copies.of, planned.plans)
        for number, heard in enumerate(pool.map(functools.partial(_hear, sandbox, options), plans), 1):
            outcomes.append(heard)
            if options.progress is not None:
                options.progress(number, len(planned.plans))
    results = [
        result for heard in outcomes for result in judged(heard.plan, heard.answers, heard.end, planned.findings)
    ]
    answered = {result.index for result in results}
    results += [unplanned(index, finding) for index, finding in planned.findings.items() if index not in answered]
    return Verification(
        results=tuple(sorted((each.result for each in results), key=lambda result: result.sort_key)),
        environment=next((heard.environment for heard in outcomes if heard.environment), None),
        runs=tuple(heard.shown() for heard in outcomes),
        notes=planned.report.notes,
        without_probe=planned.without_probe,
        sandbox=protection(confinement),
    )


def protection(confinement: Confinement) -> str:
    """What stands between the code that runs and the user's files, in words."""
    words = ", ".join(confinement.protections)
    return words if confinement.is_sandboxed else f"not sandboxed on this system ({words})"


@dataclass(frozen=True)
class _Heard:
    """What one process said, and how it ended."""

    plan: Plan
    answers: tuple[Answer, ...]
    environment: Environment | None
    executed: Executed | None
    outcome: Outcome

    @property
    def end(self) -> str:
        return "" if self.outcome.end == "done" else f"{self.outcome.end}: {self.outcome.detail}"

    def shown(self) -> TargetRun:
        return TargetRun(
            name=self.plan.name,
            path=self.plan.shown,
            text=self.plan.code.text,
            executed=self.executed,
            end=self.end or "done",
            seconds=self.outcome.seconds,
            output=self.outcome.output,
            places=self.plan.source.places,
        )


def request_of(plan: Plan, options: VerifyOptions) -> Request:
    return Request(
        code=plan.code,
        target=plan.target,
        findings=plan.findings,
        hooks=plan.hooks,
        devices=options.devices,
        runs=options.runs,
        threads=options.threads,
        seed=options.seed,
        seconds=options.seconds,
    )


def _hear(sandbox: Sandbox, options: VerifyOptions, plan: Plan) -> _Heard:
    data = msgspec.json.encode(request_of(plan, options))
    uses_gpu = any(device != "cpu" for device in options.devices)
    outcome = sandbox.run(data, allow_gpu=uses_gpu, workers=any("loader" in s.probes for s in plan.findings))
    messages = [msgspec.json.decode(each, type=Message) for each in outcome.messages]
    return _Heard(
        plan=plan,
        answers=tuple(each for each in messages if isinstance(each, Answer)),
        environment=next((each for each in messages if isinstance(each, Environment)), None),
        executed=next((_as_shown(plan, each) for each in messages if isinstance(each, Executed)), None),
        outcome=outcome,
    )


def _as_shown(plan: Plan, executed: Executed) -> Executed:
    return msgspec.structs.replace(executed, path=executed.path and plan.shown_path(executed.path))
