"""How two runs grow apart, step by step."""

from __future__ import annotations

import math

from torchlint.diverge.data import Growth
from torchlint.diverge.recordings import Recorded
from torchlint.recording.journal.records import Step

_DIGITS = 17
"""Enough to tell any two numbers apart."""
_MOST = 400
"""Steps that are told: of more, at even distances, with the last."""


def growth_of(first: Recorded, other: Recorded) -> tuple[Growth, ...]:
    """Of the process that trains, or the first of several."""
    shared = sorted(first.principals.keys() & other.principals.keys())
    if not shared:
        return ()
    ours, theirs = first.principals[shared[0]], other.principals[shared[0]]
    all_of_them = [_of_step(one, two) for one, two in zip(ours.steps(), theirs.steps(), strict=False)]
    told = [each for each in all_of_them if each.relative is not None or each.loss is not None]
    every = max(1, -(-len(told) // _MOST))
    return (*told[::every], *(told[-1:] if (len(told) - 1) % every else ()))


def _of_step(ours: Step, theirs: Step) -> Growth:
    loss = (ours.losses[-1], theirs.losses[-1]) if ours.losses and theirs.losses else None
    return Growth(ours.number, _relative(ours.sample, theirs.sample), loss, None if loss is None else _digit(*loss))


def _relative(ours: tuple[float, ...], theirs: tuple[float, ...]) -> float | None:
    """The distance of some parameters, as a share of their size."""
    if not ours or len(ours) != len(theirs):
        return None
    size, apart = math.hypot(*ours), math.dist(ours, theirs)
    if not math.isfinite(apart) or not math.isfinite(size):
        return None
    return apart / size if size else apart


def _digit(one: float, two: float) -> int | None:
    """With how many significant digits two numbers are printed differently: `2.3041` and `2.3044` with five, not four.

    None for equal ones, and for what is no number.
    """
    if one == two or not math.isfinite(one - two):
        return None
    return next((count for count in range(1, _DIGITS) if f"{one:.{count - 1}e}" != f"{two:.{count - 1}e}"), _DIGITS)
