"""One recorded run of a subject, and what the same run dispatches when nobody records."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch

from torchlint.recording.subject import Subject
from torchlint.recording.tracing.events import Event
from torchlint.recording.tracing.lines import Line
from torchlint.recording.tracing.recorder import Recorder

_INNER = {"aten.index_put": "aten._index_put_impl"}
"""What an operator is called where autograd takes it from within."""


@dataclass(frozen=True)
class Recorded:
    """What a run did. `plain` are the operators of a run without the recorder, as `aten.index_add`.

    Under a recorder autograd takes other paths for some operators, so that an event counts only where `plain` has it.
    """

    events: tuple[Event, ...]
    reached: dict[Line, frozenset[str]]
    plain: frozenset[str]
    has_backward: bool

    def was_dispatched(self, name: str) -> bool:
        """Whether an operator (`aten.index_add_.default`) ran without the recorder too, in place or not."""
        operator = name.rpartition(".")[0].rstrip("_")
        return operator in self.plain or _INNER.get(operator, "") in self.plain


def record(subject: Subject, watched: Iterable[str]) -> Recorded:
    """Run the subject twice: with the recorder, and with the profiler alone."""
    copied = subject.fresh()
    modules = {each: name for name, each in copied.named_modules()}
    recorder = Recorder(watched, modules)
    with torch.autograd.set_detect_anomaly(True, check_nan=False), recorder.hooked(), recorder:
        has_backward = copied.backward(copied.forward())
    return Recorded(
        events=tuple(recorder.events),
        reached={line: frozenset(names) for line, names in recorder.reached.items()},
        plain=_dispatched_plainly(subject),
        has_backward=has_backward,
    )


def _dispatched_plainly(subject: Subject) -> frozenset[str]:
    copied = subject.fresh()
    with torch.autograd.profiler.profile() as profile:
        copied.backward(copied.forward())
    names = (event.name for event in profile.function_events)
    return frozenset(name.replace("::", ".").rstrip("_") for name in names if "::" in name)
