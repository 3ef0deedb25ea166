"""One attempt: a call that must not take long, and a run that must be repeatable in its shapes."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from torch.nn.modules.module import register_module_forward_hook

from torchlint.recording.clock import Deadline
from torchlint.recording.errors import CannotRun
from torchlint.recording.loading.frames import user_frames
from torchlint.recording.subject import Pass, Subject

_SLOWEST = 8.0
"""Seconds that one attempt may take."""


@contextmanager
def in_time(deadline: Deadline) -> Iterator[None]:
    """Interrupt an attempt that takes too long, where the system has a clock for that.

    As for the deadline, waiting for a processor does not count.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    attempt = Deadline(max(0.5, min(_SLOWEST, deadline.left)))

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        if attempt.is_over:
            raise TimeoutError("an attempt took too long")
        signal.setitimer(signal.ITIMER_REAL, max(0.01, attempt.left))

    before = signal.signal(signal.SIGALRM, interrupt)
    started = time.monotonic()
    around, _ = signal.setitimer(signal.ITIMER_REAL, attempt.left)
    try:
        yield
    finally:
        # A clock that ran before goes on: it may be that of an attempt around this one.
        signal.setitimer(signal.ITIMER_REAL, max(0.01, around - (time.monotonic() - started)) if around else 0)
        signal.signal(signal.SIGALRM, before)


def lines_to(error: BaseException) -> tuple[int, ...]:
    """The lines of the user's that were being executed, the outermost first: later ones are further on."""
    return tuple(reversed([line for _, line in user_frames(error)]))


class Progress:
    """How far a forward comes: the modules that have answered, then the lines that it stopped at."""

    def __init__(self) -> None:
        self._answered = 0

    def start(self) -> None:
        self._answered = 0

    def __call__(self, error: BaseException) -> tuple[int, ...]:
        return (self._answered, *lines_to(error))

    @contextmanager
    def counted(self) -> Iterator[None]:
        def answered(*_: object) -> None:
            self._answered += 1

        hook = register_module_forward_hook(answered)
        try:
            yield
        finally:
            hook.remove()


def checked(subject: Subject) -> Pass:
    """Two passes with equal shapes. Raises what the passes raise, and CannotRun where the shapes differ."""
    one, other = subject.run(), subject.run()
    shapes = [{place: tensor.shape for place, tensor in run.outputs.items()} for run in (one, other)]
    if shapes[0] != shapes[1]:
        raise CannotRun("data-dependent", "the shapes of its outputs differ between two runs on the same inputs")
    return one
