"""What was seen, added up by place: memory does not grow with the length of the run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import torch

from torchlint.recording.in_command.results import Observed, Place, Tally
from torchlint.recording.in_command.stack import Trace
from torchlint.recording.messages import OperatorFacts, ProbedFinding
from torchlint.recording.tensors import described
from torchlint.recording.tracing.events import Event
from torchlint.recording.tracing.operands import (
    has_ties,
    operands_of,
    repetition_of,
    sums_sparse_entries,
    windows_overlap,
)
from torchlint.recording.tracing.recorder import arguments_by_name
from torchlint.recording.tracing.registry_conditions import Condition, condition_of, only_reads

_ALWAYS_LOOKED = 20
_EVERY = 100
"""Looking costs: the first calls of a place are looked at, those of new sizes, and then one in so many."""
_MOST_SIZES = 100
_MOST_ELEMENTS = 4_000_000
"""Of an index that is looked at: the memory is the program's own."""


@dataclass
class _Seen:
    """A place, with what is needed to add to it."""

    place: Place
    pairs: tuple[tuple[Tally, OperatorFacts], ...]
    sizes: set[tuple[tuple[int, ...], ...]] = field(default_factory=set)
    most: int = -1


class Observer:
    def __init__(self) -> None:
        self._seen: dict[object, _Seen] = {}

    @property
    def places(self) -> tuple[Place, ...]:
        return tuple(seen.place for seen in list(self._seen.values()))

    def forget(self) -> None:
        """Begin anew, as a process does that was forked off."""
        self._seen.clear()

    def see(
        self,
        called: Any,  # noqa: ANN401 - an operator
        name: str,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        trace: Trace,
        *,
        is_backward: bool,
    ) -> bool:
        """Add one call; whether its place is new."""
        key = (called, is_backward, id(trace))
        seen = self._seen.get(key)
        is_new = seen is None
        if seen is None:
            pairs = tuple(_pairs(trace.findings, name, is_backward=is_backward))
            place = _place(name, args, kwargs, trace, is_backward=is_backward)
            place.tallies = [tally for tally, _ in pairs]
            seen = self._seen[key] = _Seen(place, pairs)
        seen.place.calls += 1
        if seen.pairs and _is_worth_a_look(seen, args):
            self._look(seen, called, args, kwargs)
        return is_new

    @staticmethod
    def _look(seen: _Seen, called: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:  # noqa: ANN401
        arguments = arguments_by_name(called, args, kwargs)
        if not _may_be_looked_at(arguments.values()):
            return
        place = seen.place
        event = event_of(place.operator, arguments, is_backward=place.is_backward)
        inputs = tuple(described(each) for each in arguments.values() if isinstance(each, torch.Tensor))
        place.looked += 1
        sizes = {operand.name: operand.shape for operand in event.operands}
        elements = sum(torch.Size(shape).numel() for shape in sizes.values())
        if elements > seen.most:
            seen.most, place.largest = elements, sizes
        for tally, entry in seen.pairs:
            if not only_reads(entry, event):
                found = condition_of(entry, event)
                _add(tally, entry, found, _observed(event, found, inputs))


def event_of(name: str, arguments: dict[str, Any], *, is_backward: bool) -> Event:
    operator = name.split(".")[1]
    return Event(
        name=name,
        is_backward=is_backward,
        operands=operands_of(arguments),
        repetition=repetition_of(operator, arguments),
        overlaps=windows_overlap(operator, arguments),
        ties=has_ties(operator.rstrip("_"), arguments),
        sums_entries=sums_sparse_entries(arguments),
    )


def _pairs(findings: Iterable[ProbedFinding], name: str, *, is_backward: bool) -> Iterable[tuple[Tally, OperatorFacts]]:
    direction = "backward" if is_backward else "forward"
    for finding in findings:
        for entry in finding.operators:
            if name in entry.aten and entry.varies_on and entry.direction in ("both", direction):
                yield Tally(finding=finding.index, entry=entry.id), entry


def _place(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], trace: Trace, *, is_backward: bool) -> Place:
    flat = [
        each for value in (*args, *kwargs.values()) for each in (value if isinstance(value, (list, tuple)) else [value])
    ]
    device = next((each.device.type for each in flat if isinstance(each, torch.Tensor)), "cpu")
    return Place(
        operator=name,
        is_backward=is_backward,
        line=trace.line,
        constructor=trace.made.lines[-1] if trace.made is not None and trace.made.lines else None,
        module=trace.module,
        device=device,
    )


def _is_worth_a_look(seen: _Seen, args: tuple[Any, ...]) -> bool:
    calls = seen.place.calls
    if calls <= _ALWAYS_LOOKED or calls % _EVERY == 0:
        return True
    sizes = tuple(tuple(each.shape) for each in args if isinstance(each, torch.Tensor))
    if sizes in seen.sizes or len(seen.sizes) >= _MOST_SIZES:
        return False
    seen.sizes.add(sizes)
    return True


def _may_be_looked_at(values: Iterable[object]) -> bool:
    """Not where it would take much memory, and not while a CUDA graph is captured, which no value may be read in."""
    flat = [each for value in values for each in (value if isinstance(value, (list, tuple)) else [value])]
    tensors = [each for each in flat if isinstance(each, torch.Tensor)]
    if any(each.is_cuda for each in tensors) and torch.cuda.is_current_stream_capturing():
        return False
    return not any(each.numel() > _MOST_ELEMENTS for each in tensors if not each.is_floating_point())


def _observed(event: Event, found: Condition, inputs: tuple[str, ...]) -> Observed:
    repetition = event.repetition
    return Observed(
        words=found.words,
        sizes={operand.name: operand.shape for operand in event.operands},
        inputs=inputs,
        repeated=None if repetition is None else round(repetition.share, 4),
        places=None if repetition is None else repetition.places,
    )


def _add(tally: Tally, entry: OperatorFacts, found: Condition, observed: Observed) -> None:
    if not found.is_met:
        tally.unmet += 1
        tally.unmet_by_code += found.is_fixed_by_code
        tally.counterexample = tally.counterexample or observed
        return
    if _is_guarded(entry):
        tally.guarded += 1
        return
    tally.met += 1
    if tally.example is None or (observed.repeated or 0) > (tally.example.repeated or 0):
        tally.example = observed


def _is_guarded(entry: OperatorFacts) -> bool:
    """Whether the determinism mode is on, and takes another kernel or raises; where it only warns, nothing changes."""
    if not torch.are_deterministic_algorithms_enabled():
        return False
    return not (torch.is_deterministic_algorithms_warn_only_enabled() and entry.raises_on)
