"""Probe `trace`: whether a pass dispatches, from the flagged line, an operator that the registry says varies."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import torch

from torchlint.recording.clock import Deadline
from torchlint.recording.messages import Answer, OperatorFacts, ProbedFinding
from torchlint.recording.names import VerdictName
from torchlint.recording.probe_context import ProbeContext, answer
from torchlint.recording.probes.sightings import flagged_events, is_at, place_evidence, shown_line
from torchlint.recording.runs.recorded import Recorded
from torchlint.recording.runs.variations import meeting, scaled, varied
from torchlint.recording.runs.written_again import written_again
from torchlint.recording.subject import Subject
from torchlint.recording.tracing.events import Event
from torchlint.recording.tracing.registry_conditions import Condition, condition_of

_MOST_CALLS = 50
_MEETINGS = 3
_VARIATIONS = 24
_FEWEST_VARIATIONS = 12
"""Runs with other values: fewer prove nothing of indices that could have met."""
_BY_INTEREST = ("cuda", "xpu", "mps", "cpu")


@dataclasses.dataclass(frozen=True)
class _Sighting:
    """An entry of the registry that was met at the flagged line."""

    entry: OperatorFacts
    event: Event
    condition: Condition


def probe(context: ProbeContext, finding: ProbedFinding) -> Answer:
    recorded = context.recorded
    sightings = [
        _Sighting(entry, event, condition_of(entry, event)) for entry, event in flagged_events(context, finding)
    ]
    met = [sighting for sighting in sightings if sighting.condition.is_met]
    if met:
        return _traced(context, finding, met)
    dense = [each for each in sightings if each.entry.sums_entries and each.event.sums_entries is None]
    told = [each for each in sightings if each not in dense] or (dense if finding.code else [])
    if told:
        return _met_by_other_values(context, finding, told) or _unmet(context, finding, told[0])
    return _not_seen(context, finding, recorded)


def _traced(context: ProbeContext, finding: ProbedFinding, met: list[_Sighting]) -> Answer:
    # First what a rule reports; of context, which is mostly about algorithms of backward passes, those.
    sighting = min(met, key=lambda each: (each.entry.is_context, each.entry.is_context and not each.event.is_backward))
    predicts = [device for device in _BY_INTEREST if device in sighting.entry.varies_on]
    direction = "backward" if sighting.event.is_backward else "forward"
    reason = (
        f"its {direction} pass dispatched `{sighting.event.name}`, which {_how_it_varies(sighting.entry, predicts)}"
    )
    if sighting.condition.words:
        reason += f"; {sighting.condition.words}"
        if context.needs_subject().has_invented_inputs:
            reason += ", with inputs that were invented"
    if sighting.event.is_backward and context.needs_subject().make_input_grad:
        reason += "; its inputs were set to need a gradient, as after a layer that learns"
    calls = [
        {
            "operator": each.event.name,
            "line": shown_line(context, each.event.forward_lines),
            "module": each.event.module,
        }
        for each in met[:_MOST_CALLS]
    ]
    evidence = {**_evidence(context, sighting), "predicts": predicts[0], "calls": len(met), "all_calls": calls}
    return answer(context, finding, "trace", "TRACED", reason, **evidence)


def _met_by_other_values(context: ProbeContext, finding: ProbedFinding, unmet: list[_Sighting]) -> Answer | None:
    """The same on inputs in which values meet: those that were invented need not show what the finding is about."""
    subject = context.needs_subject()
    is_about_values = any(each.entry.ties or each.event.repetition for each in unmet)
    for tried in range(_MEETINGS) if finding.code and subject.has_invented_inputs and is_about_values else ():
        other = ProbeContext(context.request, context.device, meeting(subject, tried))
        try:
            seen = list(flagged_events(other, finding))
        except Exception:  # noqa: BLE001, S112 - values that the module cannot take show nothing
            continue
        found = [_Sighting(entry, event, condition_of(entry, event)) for entry, event in seen]
        if met := [sighting for sighting in found if sighting.condition.is_met]:
            return _traced(other, finding, met)
    return None


def _how_it_varies(entry: OperatorFacts, devices: Sequence[str]) -> str:
    """`varies on CUDA, XPU unless the determinism mode is on`; devices that other switches make steady come after."""
    by_switch: dict[str, list[str]] = {}
    for device in devices:
        by_switch.setdefault(entry.steady_if.get(device, ""), []).append(device.upper())
    places = [f"on {', '.join(names)}{f' unless {switch}' if switch else ''}" for switch, names in by_switch.items()]
    if entry.is_refused:
        return f"torch refuses {', and '.join(places)}, because the program turns the determinism mode on"
    varies = "can vary" if entry.when else "varies"
    return f"{varies} {', and '.join(places)}{f' ({entry.when})' if entry.when else ''}"


def _evidence(context: ProbeContext, sighting: _Sighting) -> dict[str, object]:
    return {**place_evidence(context, sighting.event), "entry": sighting.entry.id, "runs": 1}


def _unmet(context: ProbeContext, finding: ProbedFinding, sighting: _Sighting) -> Answer:
    """The operator ran, but not in the way that varies."""
    evidence = _evidence(context, sighting)
    ran = f"`{sighting.event.name}` ran, but {sighting.condition.words}"
    these = "with inputs that were invented" if context.needs_subject().has_invented_inputs else "with these inputs"
    if not finding.code:  # who asks about a class has not said that it is this operator
        reason = f"no operator ran in a way that the registry knows to vary: {ran}, {these}"
        return answer(context, finding, "trace", "NOT REPRODUCED", reason, **evidence)
    is_general = sighting.condition.is_fixed_by_code or _stays_with_other_inputs(context, sighting.event)
    verdict: VerdictName = "REFUTED" if is_general else "NOT REPRODUCED"
    where = "whatever the inputs are" if is_general else these
    return answer(context, finding, "trace", verdict, f"{ran}, {where}", **evidence)


def _stays_with_other_inputs(context: ProbeContext, event: Event) -> bool:
    """Whether the same distinct places are written whatever inputs and weights are, and distinct ones by more rows."""
    if event.repetition is None:
        return False
    subject, end = context.needs_subject(), Deadline(context.request.seconds / 4)
    larger = [found for scale in (4, 16) if (found := scaled(subject, scale)) is not None]
    if not larger or not all(_writes_apart(one, event, of_any_size=True) for one in larger):
        return False
    tried = 0
    while tried < _VARIATIONS and not end.is_over:
        tried += 1
        if not _writes_apart(varied(subject, tried), event):
            return False
    return tried >= _FEWEST_VARIATIONS


def _writes_apart(subject: Subject, event: Event, *, of_any_size: bool = False) -> bool:
    """Whether another run writes to distinct places there; to the very same ones, if it is of the same size."""
    assert event.repetition is not None
    found = written_again(subject, event)
    return bool(found) and all(
        each.distinct == each.places and (of_any_size or each.fingerprint == event.repetition.fingerprint)
        for each in found
    )


def _not_seen(context: ProbeContext, finding: ProbedFinding, recorded: Recorded) -> Answer:
    reached = {
        name
        for line, names in recorded.reached.items()
        if is_at(finding, context.request.code.path, (line,))
        for name in names
    }
    evidence: dict[str, object] = {"runs": 1, "operators": sorted(reached)[:40]}
    reason = _why_not_seen(context, finding, recorded, reached)
    return answer(context, finding, "trace", "NOT REPRODUCED", reason, **evidence)


def _why_not_seen(context: ProbeContext, finding: ProbedFinding, recorded: Recorded, reached: set[str]) -> str:
    if not reached:
        return (
            "the flagged line was not reached"
            if finding.code
            else "it ran, and called no torch function from this file"
        )
    if not finding.code:
        with_inputs = ", with inputs that were invented" if context.needs_subject().has_invented_inputs else ""
        known = f"no operator on {context.device} that the registry knows to vary"
        return f"it dispatched {known}{with_inputs}; a GPU can use others"
    names = {name for entry in finding.operators for name in entry.aten}
    if reached & names and any(entry.direction == "backward" for entry in finding.operators):
        if not recorded.has_backward:
            return "it ran forward; nothing that it returns needs a gradient"
        return "it ran forward, but no backward pass flows through it here"
    if names and not any(_has_kernel(name, context.device) for name in names):
        return f"the line ran; on {context.device} torch uses other operators for it, and those of a GPU were not seen"
    return "the line ran, but dispatched none of this finding's operators"


def _has_kernel(name: str, device: str) -> bool:
    """Whether torch can run an operator (`aten._cudnn_rnn.default`) on a device at all."""
    operator, _, overload = name.rpartition(".")
    schema = operator.replace(".", "::") + ("" if overload == "default" else f".{overload}")
    keys = (device.upper(), "CompositeExplicitAutograd", "CompositeImplicitAutograd")
    try:
        return any(torch._C._dispatch_has_kernel_for_dispatch_key(schema, key) for key in keys)  # noqa: SLF001
    except RuntimeError:
        return False  # this torch has no operator of that name
