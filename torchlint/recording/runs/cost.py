"""What a run of a subject takes: time, and random numbers."""

from __future__ import annotations

import time
from collections.abc import Callable

from torchlint.recording.global_state.randomness import generator_states
from torchlint.recording.subject import Subject


def too_slow_for(runs: int, run: Callable[[], object], seconds: float) -> str:
    """Why so many runs do not fit into the time; empty where they do.

    The first run of a process sets up kernels, so a second one is measured before a probe is given up.
    """
    took = _seconds_of(run)
    if took * runs > seconds:
        took = min(took, _seconds_of(run))
    if took * runs <= seconds:
        return ""
    return f"one run takes {took:.1f} s, and some {runs} of them are more than the time allows"


def _seconds_of(run: Callable[[], object]) -> float:
    start = time.monotonic()
    run()
    return time.monotonic() - start


def draws_random_numbers(subject: Subject) -> bool:
    """Whether one forward pass moves a global generator."""
    copied = subject.fresh()
    before = generator_states()
    copied.forward()
    return before != generator_states()
