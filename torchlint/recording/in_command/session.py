"""The recorder's life in one process: it begins when torch is imported, and writes down what it has, time and again."""

from __future__ import annotations

import atexit
import functools
import os
import sys
import threading
import time
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import msgspec
import torch
from torch import nn

from torchlint.recording.global_state.environment import environment
from torchlint.recording.in_command.artefacts import is_artefact
from torchlint.recording.in_command.constructors import Constructors
from torchlint.recording.in_command.files import Files
from torchlint.recording.in_command.mode import CommandRecorder, current_node
from torchlint.recording.in_command.observer import Observer
from torchlint.recording.in_command.results import RECORD, REQUEST, CommandRequest, Record
from torchlint.recording.in_command.stack import Stack, Trace
from torchlint.recording.messages import ProbedFinding
from torchlint.recording.tracing.anomaly import Anomaly, trace_of
from torchlint.recording.tracing.ctc_loss import take_lengths_as_numbers

_SECONDS_BETWEEN_RECORDS = 3.0
_SECONDS_FOR_NEWS = 0.2
_MOST_TROUBLES = 20
_MOST_OPERATORS = 40


def begin(folder: str) -> None:
    """Record from now on, for good."""
    request = msgspec.json.decode(Path(folder, REQUEST).read_bytes(), type=CommandRequest)
    Session(Path(folder), request).begin()


class Session:
    """All that is known in this process."""

    def __init__(self, folder: Path, request: CommandRequest) -> None:
        self._folder = folder
        self._findings = [each for own in request.files.values() for each in own]
        self._watched = frozenset(name for each in self._findings for entry in each.operators for name in entry.aten)
        self._names: dict[Any, str] = {}
        self._files = Files(request.files)
        self._constructors = Constructors(self._files, self.trouble)
        self._stack = Stack(self._files, self._constructors)
        self._observer = Observer()
        self._reached: dict[int, set[str]] = {}
        self._has_backward = False
        self._troubles: list[str] = []
        self._threads = threading.local()
        self._start_file()

    def _start_file(self) -> None:
        self._pid = os.getpid()
        self._began = self._written = time.monotonic()
        self._file = self._folder / f"{self._pid}-{time.time_ns()}{RECORD}"
        self._has_news = False

    def begin(self) -> None:
        self._constructors.begin()
        Anomaly(self._stack.forward, self.trouble).begin()
        take_lengths_as_numbers()
        self._enter()
        nn.modules.module.register_module_forward_pre_hook(self._enter)
        atexit.register(self._end)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._after_fork)
        for name in ("_exit", "execv", "execve"):
            self._write_before(name)
        self.write()

    def _enter(self, *_: object) -> None:
        """Record this thread too. A thread is noticed when it calls a module."""
        if not getattr(self._threads, "is_recorded", False):
            self._threads.is_recorded = True
            CommandRecorder(self).__enter__()  # type: ignore[no-untyped-call]

    def _after_fork(self) -> None:
        """What the parent saw is the parent's to tell."""
        self._observer.forget()
        self._reached = {}
        self._has_backward = False
        self._troubles = []
        self._start_file()

    def _write_before(self, name: str) -> None:
        """These end the process, or its program, silently for Python."""
        plain = getattr(os, name)

        @functools.wraps(plain)
        def writing(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - whatever it takes
            self._end()
            return plain(*args, **kwargs)

        setattr(os, name, writing)

    def see(self, called: Any, args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType | None) -> None:  # noqa: ANN401
        """One operator that is dispatched, with the frame that called it."""
        node = current_node()
        is_backward = False
        if node is None:
            trace: Trace | None = self._stack.forward(frame)
        else:
            self._has_backward = True
            trace, is_users = self._stack.backward(frame, trace_of(node, Trace))
            is_backward = not is_users
        if trace is None or not trace.findings:
            return
        name = self._name(called)
        if (called, is_backward) not in trace.reached:
            trace.reached.add((called, is_backward))
            self._reach(trace.findings, name)
        if name in self._watched and not (node is not None and is_artefact(node, name)):
            self._has_news |= self._observer.see(called, name, args, kwargs, trace, is_backward=is_backward)
        self._write_if_due()

    def _name(self, called: Any) -> str:  # noqa: ANN401 - an operator
        name = self._names.get(called)
        if name is None:
            name = self._names[called] = str(called)
        return name

    def _reach(self, findings: tuple[ProbedFinding, ...], name: str) -> None:
        self._has_news = True
        for finding in findings:
            self._reached.setdefault(finding.index, set()).add(name)

    def trouble(self, error: Exception) -> None:
        """Write down what broke here."""
        words = f"{type(error).__name__}: {error}"
        if words not in self._troubles and len(self._troubles) < _MOST_TROUBLES:
            self._troubles.append(words)
            self._has_news = True

    def _write_if_due(self) -> None:
        wait = _SECONDS_FOR_NEWS if self._has_news else _SECONDS_BETWEEN_RECORDS
        if time.monotonic() - self._written > wait:
            self.write()

    def _end(self) -> None:
        try:
            self.write()
        except Exception as error:  # noqa: BLE001 - the process ends as it would have
            self.trouble(error)

    def write(self) -> None:
        """Put the record where the command line reads it, whole or not at all."""
        self._has_news = False
        self._written = time.monotonic()
        partial = self._file.with_suffix(".partial")
        partial.write_bytes(msgspec.json.encode(self._record()))
        partial.replace(self._file)

    def _record(self) -> Record:
        places = self._observer.places
        devices = {"cpu", *(each.device for each in places)} - {"meta"}
        return Record(
            pid=self._pid,
            argv=tuple(sys.orig_argv),
            seconds=time.monotonic() - self._began,
            environment=environment(sorted(devices), torch.initial_seed()),
            loaded=self._loaded(),
            reached={index: tuple(sorted(names)[:_MOST_OPERATORS]) for index, names in list(self._reached.items())},
            places=places,
            has_backward=self._has_backward,
            troubles=tuple(self._troubles),
        )

    def _loaded(self) -> tuple[str, ...]:
        for module in list(sys.modules.values()):
            if issubclass(type(module), ModuleType):  # a lazy module is loaded by any other look at it
                file = object.__getattribute__(module, "__dict__").get("__file__")
                if isinstance(file, str):
                    self._files.of(file)
        return tuple(sorted(self._files.loaded))
