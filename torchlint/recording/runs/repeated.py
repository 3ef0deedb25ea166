"""The same run again and again: whether its bits stay, and which operator is the first whose bits do not."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from torchlint.recording.clock import Deadline
from torchlint.recording.comparison.bits import distance, same_bits
from torchlint.recording.comparison.differences import difference
from torchlint.recording.comparison.ulp_histogram import ulp_histogram
from torchlint.recording.runs.result_log import Source, are_enough, sources
from torchlint.recording.runs.variations import growing, scaled
from torchlint.recording.subject import Pass, Subject
from torchlint.recording.tensors import tensors_in

LEAST_SCALES = 5
ENOUGH = 1_000_000
"""Elements of all inputs: races of the CPU begin where work is split between threads, and on a busy machine a longer
operator shows them when many short ones do not."""


@dataclass(frozen=True)
class Repeated:
    """How often it was run at each scale, and the first difference if there was one."""

    runs: dict[int, int]
    """By scale: the copies of the inputs."""
    sizes: dict[int, tuple[tuple[int, ...], ...]]
    share_waited: float = 0.0
    """The part of the time in which other programs had the processors: a race may not show then."""
    difference: Difference | None = None
    sources: tuple[Source, ...] = ()
    """Operators that differed on equal operands, in the order of the run; empty where none could be named."""


@dataclass(frozen=True)
class Difference:
    """Where the first run and another differ."""

    scale: int
    run: int
    """From 2: the run that differs from the first."""
    tensor: str
    """As `gradient of head.weight`."""
    elements: int
    of: int
    greatest: float
    max_ulp: float | None
    """In units of the last place, above a floor; None for other types, and below the floor."""
    histogram: dict[str, list[str] | list[int]] | None


def repeat(subject: Subject, runs: int, seconds: float, wanted: Collection[str] = ()) -> Repeated:
    """Run from one state until bits differ and an operator shows why, at growing scales, until the time is used up.

    One of the `wanted`, if any are named: where only others differ, larger inputs may show these as well.
    """
    end = Deadline(seconds)
    counts: dict[int, int] = {}
    sizes: dict[int, tuple[tuple[int, ...], ...]] = {}
    unnamed: Difference | None = None
    others: tuple[Difference, tuple[Source, ...]] | None = None
    for scale in growing(subject, LEAST_SCALES, ENOUGH):
        larger = subject if scale == 1 else scaled(subject, scale)
        if larger is None or (counts and end.is_over):
            break
        sizes[scale] = tuple(tuple(tensor.shape) for _, tensor in tensors_in((larger.args, larger.kwargs)))
        found, counts[scale] = _first_difference(larger, scale, runs, end)
        if found is not None:
            named = sources(larger, 10, Deadline(end.left + seconds), wanted)
            if are_enough(named, wanted):
                return Repeated(counts, sizes, end.share_waited, found, named)
            if named:
                others = others or (found, named)
            unnamed = unnamed or found  # a race that is rare at this size shows more often at the next
    return Repeated(counts, sizes, end.share_waited, *(others or (unnamed,)))


def _first_difference(subject: Subject, scale: int, runs: int, end: Deadline) -> tuple[Difference | None, int]:
    first = subject.run()
    for run in range(2, runs + 1):
        other = subject.run()
        found = _difference(first, other, scale, run)
        if found is not None:
            return found, run
        if end.is_over and run >= 3:
            return None, run
    return None, runs


def _difference(first: Pass, other: Pass, scale: int, run: int) -> Difference | None:
    for (name, before), after in zip(first.tensors.items(), other.tensors.values(), strict=False):
        if not same_bits(before, after):
            ulps = difference(before, after).max_ulp
            return Difference(scale, run, name, *distance(before, after), ulps, ulp_histogram(before, after))
    return None
