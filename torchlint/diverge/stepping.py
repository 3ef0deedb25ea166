"""The first step at which two runs differ, from what is written of each step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

from torchlint.diverge.recordings import Recorded, Recording
from torchlint.recording.journal.records import Step

_IN_ORDER = ("parameters", "buffers", "outputs", "loss", "gradients", "reads")
_END = "end"


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
        found = _of_process(name, ours[name], theirs[name])
        if found is not None:
            yield found


def _of_process(name: str, first: Recording, other: Recording) -> StepDifference | None:
    uses_reads = not _has_values(first)
    for ours, theirs in zip_longest(first.steps(), other.steps()):
        if ours is None or theirs is None or _is_end(ours) != _is_end(theirs):
            known = ours or theirs
            if known is not None and _is_empty_tail(ours) and _is_empty_tail(theirs):
                continue
            return StepDifference(name, known.number if known else 1, (), known.ends_with if known else "")
        differing = _differing(ours, theirs, uses_reads=uses_reads)
        if differing:
            return StepDifference(name, ours.number, differing, ours.ends_with)
    return None


def _is_end(step: Step) -> bool:
    return step.ends_with == _END


def _is_empty_tail(step: Step | None) -> bool:
    return step is None or (_is_end(step) and not (step.values.keys() - {"reads"}))


def _has_values(recording: Recording) -> bool:
    """Whether there is anything to compare but numbers that Python took out of tensors, for its logs perhaps."""
    return any(step.values.keys() - {"reads"} for step in recording.steps())


def _differing(ours: Step, theirs: Step, *, uses_reads: bool) -> tuple[str, ...]:
    names = [name for name in _IN_ORDER if name != "reads" or uses_reads]
    return tuple(name for name in names if ours.values.get(name) != theirs.values.get(name))
