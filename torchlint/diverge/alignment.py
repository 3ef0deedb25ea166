"""Two sequences of operators side by side, by what ran and never by number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from difflib import SequenceMatcher
from operator import attrgetter

from torchlint.diverge.recordings import Operator

_WINDOW = 400
"""Operators of each run among which the two are brought together again."""

Pair = tuple[Operator | None, Operator | None]
"""An operator of each run; None where only the other one ran it."""


Key = Callable[[Operator], Hashable]
"""What makes two operators the same."""
_BY_PLACE: Key = attrgetter("key")


def aligned(first: Sequence[Operator], other: Sequence[Operator], *, may_have_moved: bool = False) -> Iterator[Pair]:
    """Yield the operators in pairs.

    Where the sequences part, the longest runs of equal ones in the next few hundred are taken for the same; what lies
    between them was run by one side only. `may_have_moved` says that the two may be of two versions of a program.
    """
    key = _key_of_versions(first, other) if may_have_moved else _BY_PLACE
    ours, theirs = [*map(key, first)], [*map(key, other)]
    here = there = 0
    while here < len(first) and there < len(other):
        if ours[here] == theirs[there]:
            yield first[here], other[there]
            here, there = here + 1, there + 1
            continue
        same = _next_same(ours, theirs, here, there)
        yield from ((each, None) for each in first[here : here + same[0]])
        yield from ((None, each) for each in other[there : there + same[1]])
        here, there = here + same[0], there + same[1]
    yield from ((each, None) for each in first[here:])
    yield from ((None, each) for each in other[there:])


def _key_of_versions(first: Sequence[Operator], other: Sequence[Operator]) -> Key:
    """The name alone, where most of both sides stand on lines that the other one does not know."""
    ours, theirs = Counter(map(_BY_PLACE, first)), Counter(map(_BY_PLACE, other))
    shared = sum((ours & theirs).values())
    return _BY_PLACE if 2 * shared >= min(len(first), len(other)) else attrgetter("name", "row.direction")


def _next_same(ours: Sequence[Hashable], theirs: Sequence[Hashable], here: int, there: int) -> tuple[int, int]:
    """How many of each side come before the next operators that both run."""
    windows = ours[here : here + _WINDOW], theirs[there : there + _WINDOW]
    block = SequenceMatcher(None, *windows, autojunk=False).get_matching_blocks()[0]
    return (block.a, block.b) if block.size else _nearest_same(ours[here:], theirs[there:])


def _nearest_same(ours: Sequence[Hashable], theirs: Sequence[Hashable]) -> tuple[int, int]:
    """The same behind a long stretch that one side ran alone."""
    places: dict[Hashable, int] = {}
    for place, each in enumerate(theirs):
        places.setdefault(each, place)
    both = [(place + places[each], place, places[each]) for place, each in enumerate(ours) if each in places]
    _, here, there = min(both, default=(0, len(ours), len(theirs)))
    return here, there
