"""Where an operator of the registry was seen at the flagged line, and what is told about it."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from torchlint.recording.messages import OperatorFacts, ProbedFinding
from torchlint.recording.probe_context import ProbeContext
from torchlint.recording.tensors import described, tensors_in
from torchlint.recording.tracing.events import Event
from torchlint.recording.tracing.lines import Line
from torchlint.recording.tracing.registry_conditions import only_reads


def flagged_events(context: ProbeContext, finding: ProbedFinding) -> Iterator[tuple[OperatorFacts, Event]]:
    """The recorded calls of operators that the finding is about, each with its entry."""
    recorded = context.recorded
    for entry in finding.operators:
        for event in recorded.events:
            if (
                _is_meant(entry, event)
                and is_at(finding, context.request.code.path, (*event.forward_lines, *event.constructor_lines))
                and recorded.was_dispatched(event.name)
            ):
                yield entry, event


def _is_meant(entry: OperatorFacts, event: Event) -> bool:
    """Whether an event is one of those that vary."""
    return (
        bool(entry.varies_on)
        and event.name in entry.aten
        and (entry.direction in ("both", "backward" if event.is_backward else "forward") or event.is_called)
        and not only_reads(entry, event)
    )


def is_at(finding: ProbedFinding, path: str, lines: tuple[Line, ...]) -> bool:
    """Whether one of the lines is among those of the finding."""
    return any(line.file == path and finding.line <= line.number <= finding.end_line for line in lines)


def place_evidence(context: ProbeContext, event: Event) -> dict[str, object]:
    """What is told about one call: operator, lines, module, sizes, inputs, repeated indices."""
    subject = context.needs_subject()
    found: dict[str, object] = {
        "operator": event.name,
        "direction": "backward" if event.is_backward else "forward",
        "forward_line": shown_line(context, event.forward_lines),
        "constructor_line": shown_line(context, event.constructor_lines[-1:]),
        "module": event.module,
        "sizes": {operand.name: list(operand.shape) for operand in event.operands},
        "inputs": [described(tensor) for _, tensor in tensors_in((subject.args, subject.kwargs))],
        "input_needs_grad": subject.make_input_grad,
        "threads": torch.get_num_threads(),
    }
    if event.repetition is not None:
        found["repeated_indices"] = round(event.repetition.share, 4)
        found["places"] = event.repetition.places
    return found


def shown_line(context: ProbeContext, lines: tuple[Line, ...]) -> dict[str, object] | None:
    """The first of the lines; `in_target` tells those of the checked file, whose lines the report translates."""
    if not lines:
        return None
    return {"path": lines[0].file, "line": lines[0].number, "in_target": lines[0].file == context.request.code.path}
