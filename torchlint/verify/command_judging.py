"""From what a command's processes saw to an answer for each finding."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torchlint.project.shown import shown_path
from torchlint.recording.in_command.results import Observed, Place, Record, Tally
from torchlint.recording.messages import Answer, OperatorFacts, ProbedFinding
from torchlint.recording.names import VerdictName
from torchlint.verify.command_outcome import Ran
from torchlint.verify.plan import Plan

_BY_INTEREST = ("cuda", "xpu", "mps", "cpu")


@dataclass(frozen=True)
class _Sighting:
    """A place where an operator of the finding ran, as one process saw it."""

    record: Record
    place: Place
    tally: Tally


def answers_of(plan: Plan, ran: Ran) -> Iterator[Answer]:
    """One answer for each finding of a plan."""
    for finding in plan.findings:
        yield _answer(plan, finding, ran)


def _answer(plan: Plan, finding: ProbedFinding, ran: Ran) -> Answer:
    if "trace" not in finding.probes:
        probes = ", ".join(finding.probes)
        reason = f"its probe ({probes}) must run the code alone: use `torchlint verify` without a command"
        return _said(finding, ran, "SKIPPED", reason, kind="command", probe=finding.probes[0])
    if not ran.records:
        return _said(finding, ran, "SKIPPED", _why_nothing(ran), kind="command")
    sightings = [
        _Sighting(record, place, tally)
        for record in ran.records
        for place in record.places
        for tally in place.tallies
        if tally.finding == finding.index
    ]
    met = [each for each in sightings if each.tally.met]
    if met:
        return _traced(plan, finding, ran, max(met, key=_clearest))
    if any(each.tally.guarded or each.tally.unmet for each in sightings):
        return _unmet(plan, finding, ran, sightings)
    return _not_seen(plan, finding, ran, sightings)


def _why_nothing(ran: Ran) -> str:
    if ran.troubles:
        return f"nothing was recorded: {ran.troubles[0]}"
    if ran.pythons:
        return "nothing was recorded: the command did not import torch"
    return (
        "nothing was recorded: no Python process of the command loaded the recorder, which is found through PYTHONPATH"
        " (the options -S, -I and -E prevent that)"
    )


def _clearest(sighting: _Sighting) -> tuple[float, int]:
    example = sighting.tally.example
    return ((example.repeated or 0.0) if example else 0.0, sighting.place.calls)


def _traced(plan: Plan, finding: ProbedFinding, ran: Ran, sighting: _Sighting) -> Answer:
    entry = _entry(finding, sighting.tally)
    predicts = [device for device in _BY_INTEREST if device in entry.varies_on]
    place, example = sighting.place, sighting.tally.example
    where = ", ".join(device.upper() for device in predicts)
    reason = f"its {_direction(place)} pass dispatched `{place.operator}`, which varies on {where}"
    if example is not None and example.words:
        reason += f"; {example.words}"
    return _said(
        finding,
        ran,
        "TRACED",
        f"{reason}; {_times(place.calls)}",
        predicts=predicts[0],
        **_seen(plan, sighting, example),
    )


def _unmet(plan: Plan, finding: ProbedFinding, ran: Ran, sightings: list[_Sighting]) -> Answer:
    """The operator ran, but never in the way that varies."""
    guarded = [each for each in sightings if each.tally.guarded]
    if guarded:
        place = guarded[0].place
        reason = f"`{place.operator}` ran {_times(place.calls)}, always under torch's determinism mode"
        return _said(finding, ran, "NOT REPRODUCED", reason, **_seen(plan, guarded[0], None))
    unmet = [each for each in sightings if each.tally.unmet]
    calls = sum(each.place.calls for each in unmet)
    is_fixed = all(each.tally.unmet_by_code == each.tally.unmet == each.place.calls for each in sightings)
    shown = unmet[0].tally.counterexample
    verdict: VerdictName = "REFUTED" if is_fixed else "NOT REPRODUCED"
    reason = (
        f"`{unmet[0].place.operator}` ran {_times(calls)}, but {shown.words if shown else 'not in the way that varies'}"
    )
    looked = sum(each.tally.unmet for each in unmet)
    if not is_fixed and looked < calls:
        reason += f" in the {looked} calls that were checked"
    reason += ", whatever the inputs are" if is_fixed else ", in this run"
    return _said(finding, ran, verdict, reason, **_seen(plan, unmet[0], shown))


def _not_seen(plan: Plan, finding: ProbedFinding, ran: Ran, sightings: list[_Sighting]) -> Answer:
    reached = {name for record in ran.records for name in record.reached.get(finding.index, ())}
    evidence: dict[str, Any] = {"operators": sorted(reached)}
    if not any(plan.code.path in record.loaded for record in ran.records):
        return _said(finding, ran, "NOT REPRODUCED", "the command never loaded this file", **evidence)
    if not reached:
        return _said(finding, ran, "NOT REPRODUCED", "the flagged line was not reached", **evidence)
    if sightings:
        place = sightings[0].place
        reason = f"`{place.operator}` ran {_times(place.calls)}, but its calls could not be checked"
        return _said(finding, ran, "NOT REPRODUCED", reason, **_seen(plan, sightings[0], None))
    names = {name for entry in finding.operators for name in entry.aten}
    if any(entry.direction == "backward" for entry in finding.operators) and reached & names:
        why = "it ran forward, but no backward pass through it was seen"
        if not any(record.has_backward for record in ran.records):
            why = "it ran forward, and the command ran no backward pass"
        return _said(finding, ran, "NOT REPRODUCED", why, **evidence)
    reason = "the line ran, but dispatched none of this finding's operators"
    return _said(finding, ran, "NOT REPRODUCED", reason, **evidence)


def _seen(plan: Plan, sighting: _Sighting, observed: Observed | None) -> dict[str, Any]:
    place = sighting.place
    found: dict[str, Any] = {
        "entry": sighting.tally.entry,
        "device": place.device,
        "operator": place.operator,
        "direction": _direction(place),
        "forward_line": _shown_line(plan, place.line),
        "constructor_line": _shown_line(plan, place.constructor),
        "module": place.module,
        "calls": place.calls,
        "looked_at": place.looked,
        "process": sighting.record.pid,
        "threads": sighting.record.environment.threads,
        "largest": {name: list(shape) for name, shape in place.largest.items()},
    }
    if observed is not None:
        found["sizes"] = {name: list(shape) for name, shape in observed.sizes.items()}
        found["inputs"] = list(observed.inputs)
        found["invented_inputs"] = False
        if observed.repeated is not None:
            found["repeated_indices"] = observed.repeated
            found["places"] = observed.places
    return found


def _said(finding: ProbedFinding, ran: Ran, verdict: VerdictName, reason: str, **evidence: Any) -> Answer:  # noqa: ANN401
    probe = evidence.pop("probe", "trace")
    device = evidence.pop("device", "cpu")
    about_run = {
        "runs": 1,
        "command": ran.shown,
        "exit_status": ran.status,
        "processes": len(ran.records),
    }
    return Answer(
        finding=finding.index, probe=probe, verdict=verdict, device=device, reason=reason, evidence=evidence | about_run
    )


def _entry(finding: ProbedFinding, tally: Tally) -> OperatorFacts:
    return next(entry for entry in finding.operators if entry.id == tally.entry)


def _shown_line(plan: Plan, line: tuple[str, int] | None) -> dict[str, Any] | None:
    if line is None:
        return None
    path, number = line
    return {"path": shown_path(Path(), path), "line": number, "in_target": path == plan.code.path}


def _direction(place: Place) -> str:
    return "backward" if place.is_backward else "forward"


def _times(calls: int) -> str:
    return "once" if calls == 1 else f"{calls} times"
