"""What a run of a subject takes: time, and random numbers."""

from __future__ import annotations

import math
from collections.abc import Callable

from torchlint.recording.clock import worked
from torchlint.recording.errors import CannotRun
from torchlint.recording.global_state.randomness import generator_states
from torchlint.recording.subject import Subject

_MARGIN = 1.25
"""Runs are not equally fast."""


def must_fit(runs: int, run: Callable[[], object], timeout: float, share: float) -> None:
    """Raise CannotRun where so many runs do not fit into a share of the time, with the time that would do.

    The first run of a process sets up kernels, so a second one is measured before a probe is given up.
    """
    seconds = share * timeout
    took = _seconds_of(run)
    if took * runs > seconds:
        took = min(took, _seconds_of(run))
    if took * runs > seconds:
        enough = math.ceil(_MARGIN * took * runs / share / 10) * 10
        what = f"one run takes {took:.1f} s, and some {runs} are needed"
        raise CannotRun("time", f"{what}: `--timeout {enough}` would do")


def _seconds_of(run: Callable[[], object]) -> float:
    start = worked()
    run()
    return worked() - start


def draws_random_numbers(subject: Subject) -> bool:
    """Whether one forward pass moves a global generator."""
    copied = subject.fresh()
    before = generator_states()
    copied.forward()
    return before != generator_states()
