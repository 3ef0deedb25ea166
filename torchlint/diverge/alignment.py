"""Two sequences of operators side by side, by what ran and never by number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from torchlint.diverge.recordings import Operator

_WINDOW = 400
"""Operators of each run among which the two are brought together again."""

Pair = tuple[Operator | None, Operator | None]
"""An operator of each run; None where only the other one ran it."""


def aligned(first: Sequence[Operator], other: Sequence[Operator]) -> Iterator[Pair]:
    """Yield the operators in pairs.

    Where the sequences part, the longest runs of equal ones in the next few hundred are taken for the same; what lies
    between them was run by one side only.
    """
    here = there = 0
    while here < len(first) and there < len(other):
        if first[here].key == other[there].key:
            yield first[here], other[there]
            here, there = here + 1, there + 1
            continue
        ours, theirs = first[here : here + _WINDOW], other[there : there + _WINDOW]
        same = _next_same(ours, theirs)
        yield from ((each, None) for each in ours[: same[0]])
        yield from ((None, each) for each in theirs[: same[1]])
        here, there = here + same[0], there + same[1]
    yield from ((each, None) for each in first[here:])
    yield from ((None, each) for each in other[there:])


def _next_same(ours: Sequence[Operator], theirs: Sequence[Operator]) -> tuple[int, int]:
    """How many of each side come before the next operators that both run."""
    matcher = SequenceMatcher(None, [each.key for each in ours], [each.key for each in theirs], autojunk=False)
    blocks = matcher.get_matching_blocks()
    return blocks[0].a, blocks[0].b
