"""Where the program is: its line, the suspects whose lines are on the stack, and the module that runs.

This is asked for every operator and every node of the graph, so it does as little as it can.
"""

from __future__ import annotations

import os
from types import FrameType
from typing import Any

from torch import nn

from torchlint.recording.in_command.constructors import Construction, Constructors
from torchlint.recording.in_command.files import TORCH, Files, Line
from torchlint.recording.messages import Suspect

_ENGINE = frozenset(TORCH + name.replace("/", os.sep) for name in ("autograd/__init__.py", "autograd/graph.py"))
"""What stands below these is the program that asked for the backward pass."""
_MOST_TRACES = 20_000
_CALLS_MODULE = nn.Module._call_impl.__code__  # noqa: SLF001 - nothing public tells which module runs


class Trace(list[str]):
    """Where operators are called. A list of lines, as torch keeps a traceback: it prints them if a backward breaks."""

    def __init__(self, line: Line | None, suspects: tuple[Suspect, ...], made: Construction | None, name: str) -> None:
        super().__init__([] if line is None else [f'  File "{line[0]}", line {line[1]}\n'])
        self.line = line
        self.suspects = suspects
        self.made = made
        self.module = name
        self.reached: set[Any] = set()
        """The operators that were seen here."""


class Stack:
    def __init__(self, files: Files, constructors: Constructors) -> None:
        self._files = files
        self._constructors = constructors
        self._traces: dict[object, Trace] = {}

    def forward(self, frame: FrameType | None) -> Trace:
        """Where a frame of a forward pass is."""
        return self._read(frame, None, in_backward=False)[0]

    def backward(self, frame: FrameType | None, of_node: Trace | None) -> tuple[Trace | None, bool]:
        """Where an operator of the backward pass belongs, and whether it is really one of a forward pass.

        That is the line of the user's own `backward` if one runs, else where the node was made. A checkpoint runs its
        forward pass again, in the midst of the backward pass.
        """
        found, in_module = self._read(frame, of_node, in_backward=True)
        return (of_node, False) if found.line is None else (found, in_module)

    def _read(self, frame: FrameType | None, of_node: Trace | None, *, in_backward: bool) -> tuple[Trace, bool]:
        start = frame
        line: Line | None = None
        hits: list[Suspect] = []
        module: nn.Module | None = None
        while frame is not None:
            code = frame.f_code
            if code is _CALLS_MODULE:
                if module is None:
                    module = frame.f_locals["self"]
            elif in_backward and code.co_filename in _ENGINE:
                break
            else:
                file = self._files.of(code.co_filename)
                if not file.is_foreign:
                    line = line or (file.path, frame.f_lineno or 0)
                    if file.by_line:
                        hits += file.by_line.get(frame.f_lineno or 0, ())
            frame = frame.f_back
        made = self._constructors.of(module) if module is not None else of_node and of_node.made
        key = (line, tuple(each.index for each in hits), id(made))
        trace = self._traces.get(key) or self._learn(key, start, hits, made, module)
        return trace, module is not None

    def _learn(
        self,
        key: tuple[Line | None, tuple[int, ...], int],
        start: FrameType | None,
        hits: list[Suspect],
        made: Construction | None,
        module: nn.Module | None,
    ) -> Trace:
        suspects = {each.index: each for each in (*hits, *(made.suspects if made else ()))}
        name = _name(start, module) if suspects and module is not None else ""
        trace = Trace(key[0], tuple(suspects.values()), made, name)
        if suspects or len(self._traces) < _MOST_TRACES:
            self._traces[key] = trace
        return trace


def _name(frame: FrameType | None, module: nn.Module) -> str:
    """What the outermost module that runs calls this one: `encoder.pad`."""
    root = module
    while frame is not None:
        if frame.f_code is _CALLS_MODULE:
            root = frame.f_locals["self"]
        frame = frame.f_back
    return next((name for name, each in root.named_modules() if each is module), "")
