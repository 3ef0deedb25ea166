"""Probe `trace`: whether a pass dispatches, from the flagged line, an operator that the registry says varies."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import torch

from torchlint.recording.bench import Bench, answer
from torchlint.recording.conditions import Held, held
from torchlint.recording.events import Event
from torchlint.recording.lines import Line
from torchlint.recording.messages import Answer, OperatorFacts, Suspect, VerdictName
from torchlint.recording.recorded import Recorded, record
from torchlint.recording.subject import Subject
from torchlint.recording.tensors import described, tensors_in


@dataclasses.dataclass(frozen=True)
class _Sighting:
    """An entry of the registry that was met at the flagged line."""

    entry: OperatorFacts
    event: Event
    held: Held


def probe(bench: Bench, suspect: Suspect) -> Answer:
    recorded = bench.recorded
    sightings = [*_sightings(bench, suspect, recorded)]
    for sighting in sightings:
        if sighting.held.is_met:
            return _traced(bench, suspect, sighting)
    if sightings:
        return _unmet(bench, suspect, sightings[0])
    return _not_seen(bench, suspect, recorded)


def _sightings(bench: Bench, suspect: Suspect, recorded: Recorded) -> Iterator[_Sighting]:
    for entry in suspect.operators:
        for event in recorded.events:
            if (
                entry.varies_on
                and event.name in entry.aten
                and _is_in_direction(entry, event)
                and is_at(suspect, bench.request.code.path, (*event.forward_lines, *event.constructor_lines))
                and recorded.was_dispatched(event.name)
            ):
                yield _Sighting(entry, event, held(entry, event))


def _is_in_direction(entry: OperatorFacts, event: Event) -> bool:
    return entry.direction == "both" or event.is_backward == (entry.direction == "backward")


def is_at(suspect: Suspect, path: str, lines: tuple[Line, ...]) -> bool:
    """Whether one of the lines is among those of the finding."""
    return any(line.file == path and suspect.line <= line.number <= suspect.end_line for line in lines)


def _traced(bench: Bench, suspect: Suspect, sighting: _Sighting) -> Answer:
    predicts = sorted(sighting.entry.varies_on)
    direction = "backward" if sighting.event.is_backward else "forward"
    reason = f"its {direction} pass dispatched `{sighting.event.name}`, which varies on {' and '.join(predicts)}"
    if sighting.held.words:
        reason += f"; {sighting.held.words}"
    return answer(
        bench,
        suspect,
        "trace",
        "TRACED",
        reason,
        predicts=predicts[0],
        **_evidence(bench, sighting.entry, sighting.event),
    )


def _evidence(bench: Bench, entry: OperatorFacts, event: Event) -> dict[str, object]:
    subject = bench.needs_subject()
    found: dict[str, object] = {
        "operator": event.name,
        "entry": entry.id,
        "direction": "backward" if event.is_backward else "forward",
        "forward_line": _shown(bench, event.forward_lines[:1]),
        "constructor_line": _shown(bench, event.constructor_lines[-1:]),
        "module": event.module,
        "sizes": {operand.name: list(operand.shape) for operand in event.operands},
        "inputs": [described(tensor) for _, tensor in tensors_in((subject.args, subject.kwargs))],
        "input_needs_grad": subject.make_input_grad,
        "runs": 1,
        "threads": torch.get_num_threads(),
    }
    if event.repetition is not None:
        found["repeated_indices"] = round(event.repetition.share, 4)
        found["places"] = event.repetition.places
    return found


def _shown(bench: Bench, lines: tuple[Line, ...]) -> dict[str, object] | None:
    """A line for the report; `in_target` tells those of the checked file, which may be a notebook."""
    if not lines:
        return None
    return {"path": lines[0].file, "line": lines[0].number, "in_target": lines[0].file == bench.request.code.path}


def _unmet(bench: Bench, suspect: Suspect, sighting: _Sighting) -> Answer:
    """The operator ran, but not in the way that varies."""
    is_general = sighting.held.is_fixed_by_code or _stays_with_other_inputs(bench, sighting.event)
    evidence = _evidence(bench, sighting.entry, sighting.event)
    verdict: VerdictName = "REFUTED" if is_general else "NOT REPRODUCED"
    where = "whatever the inputs are" if is_general else "with these inputs"
    reason = f"`{sighting.event.name}` ran, but {sighting.held.words}, {where}"
    return answer(bench, suspect, "trace", verdict, reason, **evidence)


def _stays_with_other_inputs(bench: Bench, event: Event) -> bool:
    """Whether the same places are written, in the same order, when inputs and draws are others."""
    if event.repetition is None:
        return False
    try:
        others = record(varied(bench.needs_subject()), [event.name])
    except Exception:  # noqa: BLE001 - inputs that the module cannot take prove nothing
        return False
    same = [
        other.repetition.fingerprint == event.repetition.fingerprint
        for other in others.events
        if other.repetition is not None and other.forward_lines[:1] == event.forward_lines[:1]
    ]
    return bool(same) and all(same)


def varied(subject: Subject) -> Subject:
    """The same with other values in its inputs, of the same sizes, and another seed."""
    other = subject.fresh()
    generator = torch.Generator().manual_seed(subject.seed + 1)
    for _, tensor in tensors_in((other.args, other.kwargs)):
        with torch.no_grad():
            order = torch.randperm(tensor.numel(), generator=generator)
            tensor.copy_(tensor.reshape(-1)[order].view_as(tensor))
    return dataclasses.replace(other, seed=subject.seed + 1)


def _not_seen(bench: Bench, suspect: Suspect, recorded: Recorded) -> Answer:
    reached = {
        name
        for line, names in recorded.reached.items()
        if is_at(suspect, bench.request.code.path, (line,))
        for name in names
    }
    evidence: dict[str, object] = {"runs": 1, "operators": sorted(reached)[:40]}
    if not reached:
        return answer(bench, suspect, "trace", "NOT REPRODUCED", "the flagged line was not reached", **evidence)
    names = {name for entry in suspect.operators for name in entry.aten}
    needs_backward = any(entry.direction == "backward" for entry in suspect.operators)
    if needs_backward and reached & names:
        why = "it ran forward, but no backward pass flows through it here"
        if not recorded.has_backward:
            why = "it ran forward; nothing that it returns needs a gradient"
        return answer(bench, suspect, "trace", "NOT REPRODUCED", why, **evidence)
    reason = "the line ran, but dispatched none of the operators in question"
    return answer(bench, suspect, "trace", "NOT REPRODUCED", reason, **evidence)
