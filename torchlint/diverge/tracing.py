"""Where the first difference of two runs comes from: its step, its operator, and what entered before it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from torchlint.diverge.distances import Distance, distance, distance_of_samples
from torchlint.diverge.first_operator import BITS, Comparing, FirstOperator, first_operator
from torchlint.diverge.recordings import Detail, Event, Recorded, Recording
from torchlint.diverge.stepping import StepDifference

EventPair = tuple[Event | None, Event | None]
"""What entered in the one run and in the other; None for the one where nothing did."""
_Pair = tuple[Detail, Detail]
ROWS_BEFORE = 20
"""Steps before the one that differs of which operators are looked at: a tensor may come from there."""
_MOST_ROWS = 200_000
"""Operators of these steps: of large steps, fewer are held in memory."""
_MOST_EARLIER = 100
"""Events of the steps before those that are kept."""
_ALL = 1 << 62
_COMPARED = frozenset({"listing", "read", "seed", "draw", "sample", "entropy"})


@dataclass(frozen=True, slots=True)
class Origin:
    """The first difference, with all that the two recordings tell of it."""

    process: str
    step: int
    found: FirstOperator
    distance: Distance | None
    events: tuple[EventPair, ...]
    """What entered from outside before it and differs, the nearest first."""


def origin_of(
    first: Recorded, other: Recorded, process: str, step: int, *, may_have_moved: bool = False
) -> Origin | None:
    """The operator of a step at which two recordings of operators differ.

    A tensor that came from an earlier step, or from a worker of a loader, is followed there. None where the operators
    of the step were not written, or are alike. `may_have_moved` says that the two may be of two versions of a program.
    """
    comparing = replace(BITS, may_have_moved=may_have_moved)
    way = _Way(process, comparing)
    for pair in _pairs(first.processes[process], other.processes[process], max(1, step - ROWS_BEFORE)):
        way.add(pair)
        if pair[0].step.number >= step:
            break
    if not way.pairs or way.pairs[-1][0].step.number != step:
        return None
    found = first_operator(*way.pairs[-1], comparing)
    return None if found is None else _followed(first, other, way, found)


def origin_among(
    first: Recorded, other: Recorded, found: Sequence[StepDifference]
) -> tuple[StepDifference, Origin] | None:
    """The operator of the earliest step at which ranks differ, on the rank where it did not come from another one."""
    earliest = min(each.number for each in found)
    known = [
        (each, origin)
        for each in found
        if each.number == earliest and (origin := origin_of(first, other, each.process, each.number)) is not None
    ]
    return min(known, key=lambda pair: bool(pair[1].found.collective), default=None)


def first_origin(
    first: Recorded, other: Recorded, process: str, last: int | None, begin: Callable[[Detail], Comparing]
) -> Origin | None:
    """The same for the first of all steps, up to a last one; each is compared in the way that `begin` gives."""
    way = _Way(process)
    for pair in _pairs(first.processes[process], other.processes[process]):
        if last is not None and pair[0].step.number > last:
            break
        way.add(pair)
        found = first_operator(*pair, begin(pair[0]))
        if found is not None:
            return _followed(first, other, way, found)
    return None


def _followed(first: Recorded, other: Recorded, way: _Way, found: FirstOperator) -> Origin:
    """The operator, or the one that made its tensor in an earlier step or in a worker."""
    if found.is_carried:
        earlier = way.carried(found)
        if earlier is not None:
            return earlier
        in_worker = _from_worker(first, other, way.process, found)
        if in_worker is not None:  # what entered before the worker was forked is its own too
            return replace(in_worker, events=(*in_worker.events, *way.events()))
    origin = way.origin(found)
    distance = _distance(first.processes[way.process], other.processes[way.process], origin.step, found)
    return replace(origin, distance=distance)


def _pairs(ours: Recording, theirs: Recording, first_rows: int = 1) -> Iterator[_Pair]:
    return zip(ours.details(first_rows), theirs.details(first_rows), strict=False)


class _Way:
    """The last steps up to a difference, and what of the earlier ones entered differently."""

    def __init__(self, process: str, comparing: Comparing = BITS) -> None:
        self.process = process
        self._comparing = comparing
        self.pairs: deque[_Pair] = deque()
        self._rows = 0
        self._earlier: deque[EventPair] = deque(maxlen=_MOST_EARLIER)

    def add(self, pair: _Pair) -> None:
        self.pairs.append(pair)
        self._rows += _rows_of(pair)
        while len(self.pairs) > (ROWS_BEFORE + 1 if self._rows <= _MOST_ROWS else 1):
            mine, yours = self.pairs.popleft()
            self._rows -= _rows_of((mine, yours))
            self._earlier.extendleft(_differing(*(compared_events(each.events, _ALL) for each in (mine, yours))))

    def origin(self, found: FirstOperator, count: int | None = None) -> Origin:
        """A difference in the last of so many steps."""
        pairs = [*self.pairs][:count]
        events = (*differing_events(pairs, found.operator.number), *self._earlier)
        return Origin(self.process, pairs[-1][0].step.number, found, None, events)

    def events(self) -> tuple[EventPair, ...]:
        """All that entered differently so far, the nearest first."""
        return (*differing_events(self.pairs, _ALL), *self._earlier)

    def carried(self, found: FirstOperator) -> Origin | None:
        """The difference in the earlier step that made a tensor which no operator of the later one wrote."""
        digest = found.digest
        for count in range(len(self.pairs) - 1, 0, -1):
            mine, yours = self.pairs[count - 1]
            if any(digest == result.digest for own in mine.threads for each in own for result in each.row.results):
                earlier = first_operator(mine, yours, self._comparing)
                if earlier is not None:
                    return self.origin(earlier, count)
        return None


def _rows_of(pair: _Pair) -> int:
    return sum(len(own) for each in pair for own in each.threads)


def _from_worker(first: Recorded, other: Recorded, process: str, found: FirstOperator) -> Origin | None:
    """The first difference in the worker of a loader that made a tensor."""
    digest = found.digest
    for name, worker in first.processes.items():
        if name.startswith("worker") and f" of {process}" in name and name in other.processes:
            origin = _in_worker(name, worker, other.processes[name], digest, found)
            if origin is not None:
                return origin
    return None


def _in_worker(name: str, worker: Recording, other: Recording, digest: int, made: FirstOperator) -> Origin | None:
    """What differed first until a worker made the tensor of this digest; None where it made no such tensor."""
    way, origin = _Way(name), None
    for pair in _pairs(worker, other):
        way.add(pair)
        if origin is None:
            found = first_operator(*pair)
            if found is not None:
                distance = _distance(worker, other, pair[0].step.number, found)
                origin = replace(way.origin(found), distance=distance)
        if any(each.digest == digest for each in pair[0].events):
            events = way.events()
            return origin or (Origin(name, pair[0].step.number, made, None, events) if events else None)
    return None


def differing_events(pairs: Sequence[_Pair], before: int) -> Iterator[EventPair]:
    """Yield what entered differently in the two runs, the nearest to an operator of the last step first."""
    for mine, yours in reversed(pairs):
        is_last = mine is pairs[-1][0]
        ours, theirs = (compared_events(each.events, before if is_last else _ALL) for each in (mine, yours))
        yield from reversed([*_differing(ours, theirs)])


def compared_events(events: Sequence[Event], before: int = 1 << 62) -> list[Event]:
    """Those of which the content counts, up to a row."""
    return [each for each in events if each.kind in _COMPARED and each.row <= before]


def _differing(ours: Sequence[Event], theirs: Sequence[Event]) -> Iterator[EventPair]:
    return (pair for pair in paired_events(ours, theirs) if is_differing(pair))


def is_differing(pair: EventPair) -> bool:
    """Whether something else entered, or in one run only. Entropy is never the same."""
    one, two = pair
    return one is None or two is None or one.kind == "entropy" or (one.digest, one.what) != (two.digest, two.what)


def is_entropy(pair: EventPair) -> bool:
    """Whether bytes of the operating system were taken: that alone says little, many libraries name files by them."""
    return any(each is not None and each.kind == "entropy" for each in pair)


def paired_events(ours: Sequence[Event], theirs: Sequence[Event]) -> Iterator[EventPair]:
    """By place and kind: the n-th event of a line is held against the n-th of that line."""
    left: dict[object, list[Event]] = {}
    for each in theirs:
        left.setdefault((each.kind, each.stack[:1]), []).append(each)
    for each in ours:
        own = left.get((each.kind, each.stack[:1]))
        yield each, own.pop(0) if own else None
    yield from ((None, each) for own in left.values() for each in own)


def _distance(ours: Recording, theirs: Recording, step: int, found: FirstOperator) -> Distance | None:
    """Of the whole tensors where they were kept, else of the few elements that are written of each."""
    place, mine, yours = found.place, found.ours, found.theirs
    if place is None or mine is None or yours is None:
        return None
    one, two = ours.value(step, mine.number, place), theirs.value(step, yours.number, place)
    if one is not None and two is not None and one.dtype == two.dtype:
        return distance(one.dtype, one.data, two.data)
    own = [each.row.results[place] if place >= 0 else each.row.operands[-1 - place] for each in (mine, yours)]
    kinds = [(each.given[place] if place >= 0 else each.taken[-1 - place]).partition("[")[0] for each in (mine, yours)]
    return distance_of_samples(kinds[0], *(each.sample for each in own)) if kinds[0] == kinds[1] else None
