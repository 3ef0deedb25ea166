"""A whole run: findings to targets, targets to processes, answers to verdicts."""

from __future__ import annotations

import dataclasses
import functools
import importlib.metadata
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from torchlint.catalogue import load_catalogue
from torchlint.catalogue.versions import Minor, format_minor, parse_minor
from torchlint.config import Settings, load_settings
from torchlint.diagnostics import Diagnostic, Note, Report
from torchlint.engine.run import RunOptions, run, select_files
from torchlint.errors import TorchlintError
from torchlint.project.roots import Roots
from torchlint.recording.messages import Environment
from torchlint.recording.names import ProbeName
from torchlint.verify.copies import Copies
from torchlint.verify.cutting import Cutter
from torchlint.verify.data import Verification
from torchlint.verify.hearing import Hearing, environment_of
from torchlint.verify.holders import Holders
from torchlint.verify.judging import Judged, Refused, judged, unplanned
from torchlint.verify.loading import kept_trees
from torchlint.verify.missing import Missing, missing_libraries
from torchlint.verify.options import VerifyOptions
from torchlint.verify.other_torch import other_torches
from torchlint.verify.places import Place, chosen
from torchlint.verify.plan import Plan
from torchlint.verify.sandbox import Confinement, Limits, OwnFolder, Sandbox
from torchlint.verify.saved_findings import still_there
from torchlint.verify.surroundings import Surroundings
from torchlint.verify.tables import unknown_targets
from torchlint.verify.targets import Planner

_OLDEST: Minor = (2, 2)
"""The torch that the recording code was written for, as the extra `verify` asks for it."""

OF_NAMED: tuple[ProbeName, ...] = ("trace", "repeat", "strict", "devices", "shapes")
"""What is asked about a target that the user names, where no rule says what to ask."""


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
    missing: Missing = field(default_factory=dict)
    refused: Mapping[int, Refused] = field(default_factory=dict)
    """By the numbers of their findings."""
    completed: Callable[[Plan], Plan] = lambda plan: plan
    """Adds what the project tells about a target: done shortly before the target runs."""


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
    files_of = functools.cache(lambda root: select_files([root], options.check, {}).complete().files)
    cutter, tree_of = Cutter(settings_of, files_of), kept_trees()
    planner = Planner(catalogue, torch, settings_of, options.probes, cutter)
    findings = {index: each for index, each in enumerate(found) if planner.probes_of(each)}
    plans = planner.plans(findings)
    without_probe = len(found) - len(findings)
    for place in places:
        if place.name is not None:
            first = max(findings, default=-1) + 1
            probes = dict(enumerate(options.probes or OF_NAMED, first))
            of_name, asked = planner.named(place.path, place.name, probes)
            plans += of_name
            findings |= asked
    beside = [*other_torches(plans, torch, options.check), *_unknown_targets(places, settings_of, files_of)]
    return Planned(
        report=dataclasses.replace(report, notes=tuple(dict.fromkeys((*report.notes, *beside)))),
        findings=findings,
        plans=tuple(plans),
        without_probe=without_probe,
        gone=gone,
        roots=roots,
        missing=missing_libraries(plans, tree_of),
        refused=planner.refused,
        completed=Surroundings(
            files, settings_of, Holders(catalogue, settings_of), files_of, cutter, tree_of
        ).completed,
    )


def _unknown_targets(
    places: Sequence[Place], settings_of: Callable[[Path], Settings], files_of: Callable[[Path], Sequence[Path]]
) -> Iterator[Note]:
    """Of the tables of each project that is asked about, with all of its files and not those alone that are named."""
    found = {settings.root: settings for settings in map(settings_of, (place.path for place in places))}
    for root, settings in found.items():
        if settings.verify or settings.verify_mistakes:
            yield from unknown_targets(settings, files_of(root) if settings.verify else ())


def _settings(check: RunOptions, roots: Roots, path: Path) -> Settings:
    return load_settings(roots.of(path), check.overrides, config=check.config, isolated=check.isolated)


def verify(planned: Planned, options: VerifyOptions) -> Verification:
    """Run every plan in a process of its own and judge what they answer. This executes the user's code.

    An interrupt ends what runs, and what was heard until then is told. TorchlintError where a device is missing, or
    where no process can be confined.
    """
    limits = Limits(seconds=options.seconds, memory_bytes=options.memory_bytes)
    with (
        OwnFolder("copies-") as folder,
        Sandbox(limits, confinement=options.confinement) as sandbox,
    ):
        confinement = sandbox.confinement
        hearing, environment = Hearing(sandbox, options), _environment(sandbox, planned, options)
        if options.begin is not None:
            options.begin()
        copies = Copies(folder.path, planned.roots)
        moved = (lambda plan: plan) if confinement.is_sandboxed else copies.of
        hearing.run(planned.plans, lambda plan: moved(planned.completed(plan)))
    results = [
        result for heard in hearing.heard for result in judged(heard.plan, heard.answers, heard.end, planned.findings)
    ]
    answered = {result.index for result in results}
    of_plans = {each.index for plan in planned.plans for each in plan.findings}
    results += not_planned(planned)
    return Verification(
        results=tuple(sorted((each.result for each in results), key=lambda result: result.sort_key)),
        environment=next((heard.environment for heard in hearing.heard if heard.environment), environment),
        runs=tuple(heard.shown() for heard in hearing.heard),
        notes=planned.report.notes,
        without_probe=planned.without_probe,
        sandbox=protection(confinement),
        was_interrupted=hearing.was_interrupted,
        not_run=len(of_plans - answered),
        missing=planned.missing,
    )


def not_planned(planned: Planned) -> list[Judged]:
    """What is told of findings that no plan is for."""
    of_plans = {each.index for plan in planned.plans for each in plan.findings}
    return [
        unplanned(index, finding, planned.refused.get(index))
        for index, finding in planned.findings.items()
        if index not in of_plans
    ]


def _environment(sandbox: Sandbox, planned: Planned, options: VerifyOptions) -> Environment | None:
    """Where things would run, if that has to be known before or without a run; a device that is named must be there."""
    named = set(options.named_devices) - {"cpu"}
    if not named and (planned.plans or not options.needs_environment):
        return None
    environment = environment_of(sandbox, options)
    present = {} if environment is None else environment.devices
    if environment is not None and not named <= present.keys():
        missing = " and ".join(sorted(named - present.keys()))
        there = ", ".join(f"{device} ({name})" for device, name in present.items())
        raise TorchlintError(f"--device {missing}: torch {environment.torch} finds none here; present: {there}")
    return environment


def protection(confinement: Confinement) -> str:
    """What stands between the code that runs and the user's files, in words."""
    words = ", ".join(confinement.protections)
    return words if confinement.is_sandboxed else f"not sandboxed on this system ({words})"
