"""The first step at which two runs differ, from what is written of each step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import zip_longest

from torchlint.diverge.recordings import Recorded, Recording
from torchlint.recording.journal.records import Step

_IN_ORDER = ("parameters", "buffers", "outputs", "loss", "gradients", "reads")
_END = "end"
_ENDED_BY_RECORDER = ("steps", "seconds")

Differing = Callable[[Step, Step], tuple[str, ...]]
"""What of two steps differs: `loss`, `parameters`."""


@dataclass(frozen=True, slots=True)
class StepDifference:
    """The first step of one process that two runs did differently."""

    process: str
    number: int
    differing: tuple[str, ...]
    """What differs: `loss`, `gradients`, `parameters`; nothing where one run made fewer steps."""
    ends_with: str


def first_difference(first: Recorded, other: Recorded) -> StepDifference | None:
    """The earliest of all processes; a process that only one run has differs from the start."""
    found = list(differences(first, other))
    return min(found, key=lambda each: each.number, default=None)


def differences(first: Recorded, other: Recorded) -> Iterator[StepDifference]:
    """Yield the first differing step of each process that trains."""
    ours, theirs = first.principals, other.principals
    for name in sorted({*ours, *theirs}):
        if name not in ours or name not in theirs:
            yield StepDifference(name, 1, (), "")
            continue
        found = difference_of(name, ours[name], theirs[name])
        if found is not None:
            yield found


def difference_of(
    name: str, first: Recording, other: Recording, differing: Differing | None = None, *, may_be_cut: bool = False
) -> StepDifference | None:
    """The first differing step of one process; bit by bit, unless another way to compare is given.

    Where the recorder ended a program after so many steps or seconds, the comparison ends too; `may_be_cut` says that
    it also does where a recording stops without its last frame.
    """
    differing = differing or BitsOfSteps(has_values=first.summary.has_values)
    for ours, theirs in zip_longest(first.steps(), other.steps()):
        if ours is None or theirs is None or _is_end(ours) != _is_end(theirs):
            known = ours or theirs
            if known is not None and _is_empty_tail(ours) and _is_empty_tail(theirs):
                continue
            shorter = first if ours is None else other if theirs is None else None
            if shorter is not None and _ends_early(shorter, may_be_cut=may_be_cut):
                return None
            return StepDifference(name, known.number if known else 1, (), known.ends_with if known else "")
        names = differing(ours, theirs)
        if names:
            return StepDifference(name, ours.number, names, ours.ends_with)
    return None


def _ends_early(recording: Recording, *, may_be_cut: bool) -> bool:
    end = recording.summary.end
    return may_be_cut if end is None else end.reason in _ENDED_BY_RECORDER


def _is_end(step: Step) -> bool:
    return step.ends_with == _END


def _is_empty_tail(step: Step | None) -> bool:
    return step is None or (_is_end(step) and not (step.values.keys() - {"reads"}))


class BitsOfSteps:
    """Compares all that is written of two steps."""

    def __init__(self, *, has_values: bool) -> None:
        self._names = [name for name in _IN_ORDER if name != "reads" or not has_values]

    def __call__(self, ours: Step, theirs: Step) -> tuple[str, ...]:
        return tuple(name for name in self._names if ours.values.get(name) != theirs.values.get(name))
