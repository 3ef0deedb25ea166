"""Where the program is: its line, the findings whose lines are on the stack, and the module that runs.

This is asked for every operator and every node of the graph, so it does as little as it can.
"""

from __future__ import annotations

import os
from types import FrameType
from typing import Any

from torch import nn

from torchlint.recording.in_command.constructors import Construction, Constructors
from torchlint.recording.in_command.files import TORCH, Files, Line
from torchlint.recording.messages import ProbedFinding
from torchlint.recording.tracing.anomaly import RECORDED

ENGINE = frozenset(TORCH + name.replace("/", os.sep) for name in ("autograd/__init__.py", "autograd/graph.py"))
"""What stands below these is the program that asked for the backward pass."""
_MOST_TRACES = 20_000
CALLS_MODULE = nn.Module._call_impl.__code__  # noqa: SLF001 - nothing public tells which module runs


class Trace(list[str]):
    """Where operators are called. A list of lines, as torch keeps a traceback: it prints them if a backward breaks."""

    def __init__(
        self, line: Line | None, findings: tuple[ProbedFinding, ...], made: Construction | None, name: str
    ) -> None:
        place = "nowhere" if line is None else f'File "{line[0]}", line {line[1]}'
        super().__init__([f"  {place} {RECORDED}\n"])
        self.line = line
        self.findings = findings
        self.made = made
        self.module = name
        self.reached: set[Any] = set()
        """The operators that were seen here."""


class Stack:
    """Reads the stack."""

    def __init__(self, files: Files, constructors: Constructors) -> None:
        self._files = files
        self._constructors = constructors
        self._traces: dict[object, Trace] = {}

    def forward(self, frame: FrameType | None) -> Trace:
        """Where a frame of a forward pass is."""
        return self._read(frame, None, in_backward=False)

    def backward(self, frame: FrameType | None, of_node: Trace | None) -> tuple[Trace | None, bool]:
        """Where an operator belongs that is dispatched while the engine runs, and whether the user's code called it.

        It does in a `backward` or a hook of the user's own, and in a forward pass that a checkpoint runs again: these
        stand on the stack above the engine. All else belongs to where its node was made.
        """
        found = self._read(frame, of_node, in_backward=True)
        return (of_node, False) if found.line is None else (found, True)

    def _read(self, frame: FrameType | None, of_node: Trace | None, *, in_backward: bool) -> Trace:
        start, known = frame, self._files.known
        line: Line | None = None
        hits: list[ProbedFinding] = []
        module: nn.Module | None = None
        while frame is not None:
            code = frame.f_code
            if code is CALLS_MODULE:
                if module is None:
                    module = frame.f_locals["self"]
            elif in_backward and code.co_filename in ENGINE:
                break
            else:
                file = known.get(code.co_filename) or self._files.of(code.co_filename)
                if not file.is_foreign:
                    if line is None:
                        line = (file.path, frame.f_lineno or 0)
                    if file.by_line:
                        hits += file.by_line.get(frame.f_lineno or 0, ())
            frame = frame.f_back
        if module is not None:
            made: Construction | None = self._constructors.of(module)
        else:
            made = of_node.made if of_node is not None else None
        key = (line, tuple(each.index for each in hits) if hits else (), id(made))
        found = self._traces.get(key)
        return self._learn(key, start, hits, made, module) if found is None else found

    def _learn(
        self,
        key: tuple[Line | None, tuple[int, ...], int],
        start: FrameType | None,
        hits: list[ProbedFinding],
        made: Construction | None,
        module: nn.Module | None,
    ) -> Trace:
        findings = {each.index: each for each in (*hits, *(made.findings if made else ()))}
        name = _name(start, module) if findings and module is not None else ""
        trace = Trace(key[0], tuple(findings.values()), made, name)
        if findings or len(self._traces) < _MOST_TRACES:
            self._traces[key] = trace
        return trace


def _name(frame: FrameType | None, module: nn.Module) -> str:
    """What the outermost module that runs calls this one: `encoder.pad`."""
    root = module
    while frame is not None:
        if frame.f_code is CALLS_MODULE:
            root = frame.f_locals["self"]
        frame = frame.f_back
    return next((name for name, each in root.named_modules() if each is module), "")
