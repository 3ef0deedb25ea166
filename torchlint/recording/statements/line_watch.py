"""Watching one file's lines run."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from typing_extensions import Self

from torchlint.recording.clock import Deadline
from torchlint.recording.originals import Judging

OnStep = Callable[[FrameType, str, object], None]

TIME_OVER = "time over"
"""The event of the last step, where the code was ended."""
_MOST_STEPS = 20_000
"""Loops that turn oftener are left alone: what they do was seen by then."""


class TimeOver(BaseException):
    """Ends the watched code. It is no Exception, so that the code's own handlers let it pass."""


class LineWatch:
    """Calls `on_step(frame, event)` before each line of the file, and when one of its frames returns or raises."""

    def __init__(self, path: str, on_step: OnStep, seconds: float) -> None:
        self._path = path
        self._on_step = on_step
        self._deadline = Deadline(seconds)
        self._steps = 0
        self._before: Any = None

    def __enter__(self) -> Self:
        self._before = sys.gettrace()
        sys.settrace(self._called)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(self._before)

    @property
    def was_cut(self) -> bool:
        return self._steps >= _MOST_STEPS

    def _called(self, frame: FrameType, event: str, argument: object) -> Any:  # noqa: ANN401 - as sys.settrace has it
        self._end_in_time(frame)
        if frame.f_code.co_filename != self._path:
            return None
        return self._stepped(frame, event, argument)

    def _stepped(self, frame: FrameType, event: str, argument: object) -> Any:  # noqa: ANN401 - likewise
        self._end_in_time(frame)
        self._steps += 1
        if self._steps < _MOST_STEPS:
            with Judging():
                self._on_step(frame, event, argument)
        return self._stepped

    def _end_in_time(self, frame: FrameType) -> None:
        if self._deadline.is_over and frame.f_globals is not Judging.__enter__.__globals__:  # it puts functions back
            with Judging():
                self._on_step(frame, TIME_OVER, None)
            raise TimeOver


def stopped_after(seconds: float, timeout: float) -> str:
    """What is said of a run that came to its limit, which is a part of the time that a target may take."""
    part = f"its part of `--timeout {timeout:.0f}`: try a larger one, such as {5 * timeout:.0f}"
    return f"it was stopped after {seconds:.0f} s, {part}"
