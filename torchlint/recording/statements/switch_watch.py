"""The flagged statement executed under watch: what was written, seeded and drawn, in which line, in which order."""

from __future__ import annotations

import os
import sys
import types
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import torch
from typing_extensions import Self

from torchlint.recording.global_state.randomness import seed_everything
from torchlint.recording.messages import ProbedFinding
from torchlint.recording.statements.attributes import WatchedAttribute, attribute_targets, names_of_torch, resolved
from torchlint.recording.statements.execution import TOP_LEVEL
from torchlint.recording.statements.generators import GeneratorWatch
from torchlint.recording.statements.line_watch import TIME_OVER, LineWatch
from torchlint.recording.statements.observed import Event, Observed, shown
from torchlint.recording.statements.places import Place

# Taken before the user's code can put something else in their place.
_SWITCHES: dict[str, Callable[[], object]] = {
    "the determinism mode": torch.are_deterministic_algorithms_enabled,
    "warn_only": torch.is_deterministic_algorithms_warn_only_enabled,
    "torch.backends.cudnn.deterministic": lambda cudnn=torch.backends.cudnn: cudnn.deterministic,  # type: ignore[misc]
    "torch.backends.cudnn.benchmark": lambda cudnn=torch.backends.cudnn: cudnn.benchmark,  # type: ignore[misc]
    "torch.backends.cudnn.enabled": lambda cudnn=torch.backends.cudnn: cudnn.enabled,  # type: ignore[misc]
    "torch.get_default_dtype()": torch.get_default_dtype,
}
_INTERPRETERS = ("os.exec", "os.posix_spawn", "os.spawn", "subprocess.Popen")
_INITIALISED: Callable[[], bool] = torch.cuda.is_initialized
_MOST_EVENTS = 400
_SET_FOR_US = ("PYTHONHASHSEED", "CUBLAS_WORKSPACE_CONFIG")
"""The verifier's own processes get these: a program that writes the same value must be seen to write it."""
_TORCHS_OWN = {"TORCHINDUCTOR_CACHE_DIR"}
"""torch sets these itself, when its compiler is imported."""


class StatementWatch:
    """Use as a context manager around the execution, then ask for `observed`."""

    def __init__(self, path: str, place: Place, finding: ProbedFinding, seconds: float, start: int) -> None:
        self._path = path
        self._lines = place.lines
        self._flagged = range(finding.line, finding.end_line + 1)
        self._targets = attribute_targets(place.statement)
        self._known = names_of_torch()
        self._is_watching = False
        self._watch = LineWatch(path, self._step, seconds)
        self._start = start
        self._begin()

    def _begin(self) -> None:
        """Forget what was seen: the loader begins again, now that it has stood in for an import."""
        seed_everything(self._start)
        for name in _SET_FOR_US:
            os.environ.pop(name, None)
        self.reached = False
        self.variables: dict[str, Any] = {}
        """Those of the function that holds the line, or that the line calls, as it left them."""
        self._code: types.CodeType | None = None
        self._written: list[WatchedAttribute] = []
        self._events: list[Event] = []
        self._line = 0
        self._outer_line = 0
        self._raised: tuple[int, str] = (0, "")
        self._state = _State()

    def __enter__(self) -> Self:
        sys.addaudithook(self._audit)
        self._is_watching = True
        self._watch.__enter__()
        return self

    def __exit__(self, *details: object) -> None:
        self._watch.__exit__(*details)
        self._note_changes()
        self._is_watching = False

    def observed(self) -> Observed:
        return Observed(
            reached=self.reached,
            events=self._events[:_MOST_EVENTS],
            writes=[written.as_seen() for written in self._written],
            raised=self._raised[1],
            raised_line=self._raised[0],
            switches={name: shown(read()) for name, read in _SWITCHES.items()},
            was_cut=self._watch.was_cut or len(self._events) > _MOST_EVENTS,
        )

    def _step(self, frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code.co_name == "<module>":
            self._begin()
            return
        self._note_changes()
        for written in self._written:
            written.read(is_end=event == "return")
        if event == "line":
            self._line = frame.f_lineno
            self._before_line(frame)
            if frame.f_code is self._code:
                self._outer_line = frame.f_lineno
        elif event == "exception" and isinstance(argument, tuple):
            raised = f"{argument[0].__name__}: {argument[1]}"
            # On its way out it passes through the callers' lines too: the first one counts.
            if raised != self._raised[1]:
                self._raised = (frame.f_lineno, raised)
        elif event == "return":
            self._keep_variables(frame)
            self._line = frame.f_back.f_lineno if frame.f_back else self._line
        elif event == TIME_OVER:
            self._keep_all_variables(frame)

    def _keep_all_variables(self, frame: FrameType | None) -> None:
        while frame is not None:
            self._keep_variables(frame)
            frame = frame.f_back

    def _keep_variables(self, frame: FrameType) -> None:
        if not self.reached or frame.f_code.co_name in TOP_LEVEL:
            return
        caller = frame.f_back
        is_called_by_file = caller is not None and caller.f_code.co_name in TOP_LEVEL
        is_of_file = frame.f_code.co_filename == self._path
        if is_of_file and (frame.f_code is self._code or is_called_by_file):
            self.variables.update(frame.f_locals)

    def _before_line(self, frame: FrameType) -> None:
        if self._line not in self._lines and self._line not in self._flagged:
            return
        if self._line not in self._lines and self._lines.start > self._line:
            return  # the head of a definition, which only defines
        is_first = not self.reached
        self.reached = True
        if is_first:
            self._code = frame.f_code
            self._written = list(resolved(self._targets, frame, self._known))

    def _note_changes(self) -> None:
        for what, name, before, after in self._state.changes():
            self._events.append(Event(self._line, what, name, before, after, self._outer_line))

    def _audit(self, event: str, arguments: tuple[object, ...]) -> None:
        """Audit hooks stay for good, so this one has a switch of its own."""
        if not self._is_watching or event not in _INTERPRETERS:
            return
        self._events.append(Event(self._line, "interpreter", event, "", shown(arguments[0] if arguments else "")))
        if event == "os.exec":
            raise PermissionError("the program would replace itself by another process")


class _State:
    """Everything whose change is an event."""

    def __init__(self) -> None:
        self._generators = GeneratorWatch()
        self._environment = dict(os.environ)
        self._switches = {name: read() for name, read in _SWITCHES.items()}
        self._has_cuda = _INITIALISED()

    def changes(self) -> Iterator[tuple[str, str, str, str]]:
        environment = dict(os.environ)
        if environment != self._environment:
            for name in sorted({*environment, *self._environment}):
                before, after = self._environment.get(name), environment.get(name)
                if before != after and name not in _TORCHS_OWN:
                    yield "environment", name, shown(before), shown(after)
            self._environment = environment
        for name, read in _SWITCHES.items():
            value = read()
            if value != self._switches[name]:
                yield "switch", name, shown(self._switches[name]), shown(value)
                self._switches[name] = value
        for what, library, value in self._generators.changes():
            yield what, library, "", value
        if _INITIALISED() and not self._has_cuda:
            self._has_cuda = True
            yield "cuda", "first use of CUDA", "", ""
