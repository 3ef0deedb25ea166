"""The recorder's life in one process: it begins when torch is imported, and writes each step as it ends."""

from __future__ import annotations

import atexit
import functools
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

import msgspec
import torch
from torch import nn

from torchlint.recording.factors.memory import FreshMemory
from torchlint.recording.factors.start import troubles
from torchlint.recording.global_state.environment import environment, holds_tensors
from torchlint.recording.journal.aside import Aside
from torchlint.recording.journal.compiled import Regions
from torchlint.recording.journal.digests import Digests, resolved
from torchlint.recording.journal.framing import Writer
from torchlint.recording.journal.interning import Interned
from torchlint.recording.journal.mode import JournalMode, only_mode
from torchlint.recording.journal.names import SUFFIX
from torchlint.recording.journal.operators import Operators
from torchlint.recording.journal.outside import Outside
from torchlint.recording.journal.places import Places, caller
from torchlint.recording.journal.records import REQUEST, End, Frame, Header, Request, Rows, Step
from torchlint.recording.journal.records import Outside as Entered
from torchlint.recording.journal.rows import StepRows
from torchlint.recording.journal.samples import Samples
from torchlint.recording.journal.steps import Hooks, StepValues
from torchlint.recording.journal.workers import watch_fetches
from torchlint.recording.tensors import tensors_in
from torchlint.recording.tracing.anomaly import Anomaly
from torchlint.recording.tracing.ctc_loss import take_lengths_as_numbers

_CHILD = "child of "
_MOST_BYTES = 150 << 20
"""Of a recording; after that only the steps are written, without their operators."""


class EndOfRecording(SystemExit):
    """Ends the program politely after the last step that is wanted: `finally` blocks and exit functions run."""


def begin(folder: str, outside: Outside) -> Session:
    """Record this process from now on."""
    request = msgspec.json.decode(Path(folder, REQUEST).read_bytes(), type=Request)
    session = Session(Path(folder), request, outside)
    session.begin()
    return session


class Session:
    """All that is known in this process."""

    def __init__(self, folder: Path, request: Request, outside: Outside) -> None:
        self._folder = folder
        self._request = request
        self._outside = outside
        self.aside = Aside()
        self._digests = Digests()
        self._samples = Samples()
        self._interned = Interned()
        self._places = Places()
        self._rows = StepRows(self._digests, self._samples, self._interned)
        self._values = StepValues(self._digests, self._samples)
        self._hooks = Hooks(self._values, self.end_step, self.aside)
        self.operators = Operators(self._rows, self._values, self._places, self._hooks, self.aside)
        self.operators.memory = _fresh_memory(request)
        self._threads = threading.local()
        self._thread_count = 0
        self.role = "main" if "RANK" not in os.environ else f"rank {os.environ['RANK']}"
        self._writer: Writer | None = None
        self._has_optimizer = False
        self._is_helper = self._is_worker = False
        """Whether this process was forked off one that is recorded; and whether it makes batches for a loader."""
        self._has_ended = False
        self._reason = "exit"
        self._start()

    def _start(self) -> None:
        self._began = time.monotonic()
        self._number = 0
        self._next_step()

    def _next_step(self) -> None:
        self._number += 1
        is_wanted = self._request.level == "operator" and self._has_rows(self._number)
        self.operators.writes_rows = is_wanted and not self._is_large
        self._rows.keeps_values = self._request.kept_step == self._number and not self._is_helper
        self._values.clear()
        self._rows.clear()
        self._digests.begin_step()
        self._samples.begin_step()

    def _has_rows(self, number: int) -> bool:
        last = self._request.last_rows
        return self._request.first_rows <= number and (last is None or number <= last)

    @property
    def _is_large(self) -> bool:
        return self._writer is not None and self._writer.size > _MOST_BYTES

    def begin(self) -> None:
        """Hook into torch, and write the header."""
        self._hooks.enter_thread = self._enter_thread
        self._values.told_parameters = self._rows.add_parameters
        if self._request.level != "operator" and self.operators.memory is None:
            self._hooks.mode_to_leave = only_mode
        self._hooks.begin()
        take_lengths_as_numbers()
        self._watch_optimizers()
        if self._request.level == "module":
            self._hooks.module_calls.append(self._add_module_call)
        watch_fetches(self._end_of_fetch)
        Regions(self.operators, self._rows, self._places, self._hooks).watch()
        self._hooks.end_of_root = self._end_of_root
        if self._request.level == "operator":
            Anomaly(self._places.forward, lambda error: self.aside.trouble(repr(error))).begin()
        self._outside.row = lambda: self._rows.count
        self._outside.watch_numpy()
        self._outside.seeding(torch, "manual_seed", "torch.manual_seed")
        self._enter_thread()
        atexit.register(self.end)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._after_fork)
        for name in ("_exit", "execv", "execve"):
            self._end_before(name)
        self.aside.do(self._write)

    def _enter_thread(self) -> None:
        """Record this thread too. A thread is noticed when it calls a module."""
        if not getattr(self._threads, "is_recorded", False):
            self._threads.is_recorded = True
            JournalMode(self.operators, self._thread_count).__enter__()  # type: ignore[no-untyped-call]
            self._thread_count += 1

    def _after_fork(self) -> None:
        """What the parent saw is the parent's to tell. A child gets a file when it has something to say."""
        self._writer = None
        self._interned = self._rows.interned = Interned()
        self.role, self._is_helper = f"{_CHILD}{self.role}", True
        self._outside.take()
        self.operators.total = 0
        self._start()

    def _end_before(self, name: str) -> None:
        """These end the process, or its program, silently for Python."""
        plain = getattr(os, name)

        @functools.wraps(plain)
        def ending(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - whatever it takes
            self.end()
            return plain(*args, **kwargs)

        setattr(os, name, ending)

    def _watch_optimizers(self) -> None:
        plain: Any = torch.optim.Optimizer.__init__

        @functools.wraps(plain)
        def making(optimizer: torch.optim.Optimizer, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
            self._has_optimizer = True
            plain(optimizer, *args, **kwargs)

        torch.optim.Optimizer.__init__ = making  # type: ignore[method-assign, assignment]

    # -- ends of steps -----------------------------------------------------------------------------------

    def _end_of_root(self) -> None:
        """A call of a module that no other module made ends a step, as long as there is no optimizer."""
        if not self._has_optimizer and not self._is_helper:
            self.end_step("module")

    def _end_of_fetch(self, worker: int, indices: object, data: object) -> None:
        """A worker of a loader has made a batch."""
        if not self._is_worker:
            self._is_worker, self.role = True, f"worker {worker} of {self.role.removeprefix(_CHILD)}"
        self.aside.do(self._add_sample, indices, data)
        self.end_step("fetch")

    def _add_sample(self, indices: object, data: object) -> None:
        tensors = [tensor for _, tensor in tensors_in(data)]
        self._values.add("outputs", tensors)
        for each in tensors:
            self._outside.add_here("sample", repr(indices)[:100], resolved(self._digests.of(each)))

    def end_step(self, ended_by: str) -> None:
        """Write the step that ran. Raises EndOfRecording after the last one that is wanted."""
        self.aside.do(self._write_step, ended_by)
        last, seconds = (None, None) if self._is_helper else (self._request.last_step, self._request.seconds)
        if last is not None and self._number >= last:
            self._end_program("steps")
        if seconds is not None and time.monotonic() - self._began > seconds:
            self._end_program("seconds")
        self._next_step()

    def _end_program(self, reason: str) -> None:
        self._reason = reason
        if self._has_ended:  # the program caught it and went on
            os._exit(0)
        self.end()
        raise EndOfRecording(0)

    def _write_step(self, ended_by: str) -> None:
        self._outside.watch_numpy()
        events, draws = self._outside.take()
        entered = tuple(
            Entered(each.kind, each.what, each.digest, self._interned.stack(each.stack), each.row) for each in events
        )
        frames: list[Frame] = []
        losses, values = self._values.closed()
        if self._request.level != "step" or entered:
            rows = self._rows.closed() if self._rows.count else [Rows((), (), is_cut=self._is_large)]
            frames += [msgspec.structs.replace(rows[0], outside=entered), *rows[1:]]
        step = Step(
            number=self._number,
            ends_with=ended_by,
            operators=self.operators.total,
            losses=losses,
            values=values,
            generators=self._generators(),
            draws=draws,
            sample=self._values.sample,
            seconds=time.monotonic() - self._began,
        )
        self._write(*frames, step)

    def _generators(self) -> dict[str, int]:
        states = {
            "python": self._outside.state("python"),
            "torch cpu": resolved(self._digests.of(torch.get_rng_state())),
        }
        if sys.modules.get("numpy.random") is not None:
            states["numpy"] = self._outside.state("numpy")
        if torch.cuda.is_available() and torch.cuda.is_initialized():
            for number, state in enumerate(torch.cuda.get_rng_state_all()):
                if holds_tensors(number):
                    states[f"torch cuda:{number}"] = resolved(self._digests.of(state))
        return states

    def _add_module_call(self, module: nn.Module, output: object) -> None:
        if self._rows.is_full or self._is_large:
            return
        row = self._rows.begin_row(type(module).__name__, "forward", self._places.of_call(caller(), module), 0)
        self._rows.end_row(row, [tensor for _, tensor in tensors_in(output)])

    # -- the file ----------------------------------------------------------------------------------------

    def _write(self, *frames: Frame) -> None:
        if self._writer is None:
            self._writer = Writer(self._folder / f"{os.getpid()}-{time.time_ns()}{SUFFIX}")
            self._writer.write(self._header())
        self._writer.write(*self._interned.news(), *frames)

    def _header(self) -> Header:
        devices = ["cuda"] if torch.cuda.is_available() and torch.cuda.is_initialized() else []
        around = environment(["cpu", *devices], 0)
        numpy = sys.modules.get("numpy")
        return Header(
            pid=os.getpid(),
            parent=os.getppid(),
            role=self.role,
            argv=tuple(sys.orig_argv),
            folder=self._request.folder,
            level=self._request.level,
            seconds=time.time(),
            software={"python": around.python, "torch": around.torch, "numpy": getattr(numpy, "__version__", "")},
            machine={
                "platform": around.platform,
                "cpu": around.cpu,
                "cpu capability": around.cpu_capability,
                "threads": str(around.threads),
                **around.devices,
            },
            variables=around.variables,
            switches=_switches(),
            held=self._request.held,
            varied=self._request.varied,
        )

    def end(self) -> None:
        """Write the tail behind the last step, and the end."""
        if self._has_ended:
            return
        self._has_ended = True
        self.aside.do(self._write_end)

    def _write_end(self) -> None:
        if self._writer is None and not self.operators.total:
            return
        has_tail = not self._values.is_empty or self._rows.count or self._number == 1
        if self._reason == "exit" and has_tail:
            self._write_step("end")
        seconds = time.monotonic() - self._began
        self._write(End(reason=self._reason, seconds=seconds, troubles=(*self.aside.troubles, *troubles())))


def _fresh_memory(request: Request) -> FreshMemory | None:
    """What fills memory that is handed out unwritten, where that is held or varied."""
    if "memory" in request.held:
        return FreshMemory()
    return FreshMemory(varied=True) if "memory" in request.varied else None


def _switches() -> dict[str, str]:
    return {
        "use_deterministic_algorithms": str(torch.are_deterministic_algorithms_enabled()),
        "cudnn.benchmark": str(torch.backends.cudnn.benchmark),
        "cudnn.deterministic": str(torch.backends.cudnn.deterministic),
    }
