"""Where the first difference of two runs comes from: its step, its operator, and what entered before it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torchlint.diverge.distances import Distance, distance
from torchlint.diverge.first_operator import FirstOperator, first_operator
from torchlint.diverge.recordings import Detail, Event, Recorded, Recording

EventPair = tuple[Event | None, Event | None]
"""What entered in the one run and in the other; None for the one where nothing did."""
_Pair = tuple[Detail, Detail]
_COMPARED = frozenset({"listing", "read", "seed", "draw", "sample"})


@dataclass(frozen=True, slots=True)
class Origin:
    """The first difference, with all that the two recordings tell of it."""

    process: str
    step: int
    found: FirstOperator
    distance: Distance | None
    events: tuple[EventPair, ...]
    """What entered from outside before it and differs, the nearest first."""


def origin_of(first: Recorded, other: Recorded, process: str, step: int) -> Origin | None:
    """The operator of a step at which two recordings of operators differ.

    A tensor that came from an earlier step, or from a worker of a loader, is followed there. None where the operators
    of the step were not written, or are alike.
    """
    ours, theirs = first.processes[process], other.processes[process]
    pairs = _pairs(ours, theirs, step)
    if not pairs or pairs[-1][0].step.number != step:
        return None
    found = first_operator(*pairs[-1])
    if found is None:
        return None
    if found.is_carried:
        earlier = _carried(process, pairs[:-1], found) or _from_worker(first, other, process, found)
        if earlier is not None:
            return earlier
    return _origin(process, pairs, found, ours, theirs)


def _pairs(ours: Recording, theirs: Recording, last: int) -> list[_Pair]:
    both = zip(ours.details(), theirs.details(), strict=False)
    return [(one, two) for one, two in both if one.step.number <= last]


def _origin(process: str, pairs: Sequence[_Pair], found: FirstOperator, ours: Recording, theirs: Recording) -> Origin:
    step = pairs[-1][0].step.number
    events = tuple(differing_events(pairs, found.operator.number))
    return Origin(process, step, found, _distance(ours, theirs, found), events)


def _carried(process: str, pairs: Sequence[_Pair], found: FirstOperator) -> Origin | None:
    """The difference in the earlier step that made a tensor which no operator of the later one wrote."""
    assert found.place is not None
    digest = found.operator.row.operands[-1 - found.place].digest
    for count in range(len(pairs), 0, -1):
        mine, yours = pairs[count - 1]
        if any(digest == result.digest for own in mine.threads for each in own for result in each.row.results):
            origin = first_operator(mine, yours)
            if origin is not None:
                events = tuple(differing_events(pairs[:count], origin.operator.number))
                return Origin(process, mine.step.number, origin, None, events)
    return None


def _from_worker(first: Recorded, other: Recorded, process: str, found: FirstOperator) -> Origin | None:
    """The first difference in the worker of a loader that made a tensor."""
    assert found.place is not None
    digest = found.operator.row.operands[-1 - found.place].digest
    for name, worker in first.processes.items():
        if not name.startswith("worker") or f" of {process}" not in name or name not in other.processes:
            continue
        pairs = _pairs(worker, other.processes[name], 1 << 62)
        made = [count for count, (mine, _) in enumerate(pairs, 1) if any(e.digest == digest for e in mine.events)]
        if made:
            return _in_worker(name, pairs[: made[0]], found, worker, other.processes[name])
    return None


def _in_worker(
    name: str, pairs: Sequence[_Pair], found: FirstOperator, worker: Recording, other: Recording
) -> Origin | None:
    for count in range(1, len(pairs) + 1):
        origin = first_operator(*pairs[count - 1])
        if origin is not None:
            return _origin(name, pairs[:count], origin, worker, other)
    events = tuple(differing_events(pairs, 1 << 62))
    return Origin(name, pairs[-1][0].step.number, found, None, events) if events else None


def differing_events(pairs: Sequence[_Pair], before: int) -> Iterator[EventPair]:
    """Yield what entered differently in the two runs, the nearest to an operator of the last step first."""
    for mine, yours in reversed(pairs):
        is_last = mine is pairs[-1][0]
        ours, theirs = (compared_events(each.events, before if is_last else 1 << 62) for each in (mine, yours))
        found = [*_differing(ours, theirs)]
        yield from reversed(found)


def compared_events(events: Sequence[Event], before: int = 1 << 62) -> list[Event]:
    """Those of which the content counts, up to a row."""
    return [each for each in events if each.kind in _COMPARED and each.row <= before]


def _differing(ours: Sequence[Event], theirs: Sequence[Event]) -> Iterator[EventPair]:
    return (pair for pair in paired_events(ours, theirs) if is_differing(pair))


def is_differing(pair: EventPair) -> bool:
    """Whether something else entered, or in one run only."""
    one, two = pair
    return one is None or two is None or (one.digest, one.what) != (two.digest, two.what)


def paired_events(ours: Sequence[Event], theirs: Sequence[Event]) -> Iterator[EventPair]:
    """By place and kind: the n-th event of a line is held against the n-th of that line."""
    left: dict[object, list[Event]] = {}
    for each in theirs:
        left.setdefault((each.kind, each.lines[:1]), []).append(each)
    for each in ours:
        own = left.get((each.kind, each.lines[:1]))
        yield each, own.pop(0) if own else None
    yield from ((None, each) for own in left.values() for each in own)


def _distance(ours: Recording, theirs: Recording, found: FirstOperator) -> Distance | None:
    if found.place is None or found.ours is None or found.theirs is None:
        return None
    one = ours.values().get((found.ours.number, found.place))
    two = theirs.values().get((found.theirs.number, found.place))
    if one is None or two is None or one.dtype != two.dtype:
        return None
    return distance(one.dtype, one.data, two.data)
