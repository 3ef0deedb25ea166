"""Where the program is: the lines outside torch that led to an operator, and the module that runs."""

from __future__ import annotations

import os
import sys
import sysconfig
import weakref
from types import FrameType
from typing import Any

from torch import nn

from torchlint.recording.in_command.files import TORCH
from torchlint.recording.in_command.stack import CALLS_MODULE, ENGINE
from torchlint.recording.tracing.anomaly import RECORDED

_RECORDING = os.path.dirname(os.path.dirname(__file__)) + os.sep  # noqa: PTH120
_FOREIGN = (TORCH, _RECORDING, "<frozen ", sysconfig.get_path("stdlib") + os.sep + "threading.py")
_DEEPEST = 16
Stack = tuple[tuple[str, int], ...]


class Place(list[str]):
    """A stack and a module. A list of lines, as torch keeps a traceback with each node of the graph."""

    def __init__(self, stack: Stack, module: str) -> None:
        super().__init__([f'  File "{path}", line {line} {RECORDED}\n' for path, line in reversed(stack)])
        self.stack = stack
        self.module = module


class Places:
    """Reads stacks. Each place is made once and kept, so that places are known by their `id`."""

    def __init__(self) -> None:
        self._foreign: dict[str, bool] = {}
        self._known: dict[tuple[Stack, str], Place] = {}
        self._names: dict[int, tuple[weakref.ref[nn.Module], dict[int, str]]] = {}
        self.nowhere = Place((), "")

    def forward(self, frame: FrameType | None) -> Place:
        """The place of a frame of a forward pass."""
        return self._read(frame, in_backward=False)

    def backward(self, frame: FrameType | None, made: Place | None) -> Place:
        """The place of an operator that runs below the engine.

        A `backward` or a hook of the user's own stands on the stack above the engine; all else belongs to the place
        where the node of the graph was made.
        """
        found = self._read(frame, in_backward=True)
        return found if found.stack else made or self.nowhere

    def of_call(self, frame: FrameType | None, module: nn.Module) -> Place:
        """The place where a module was called that has just ended."""
        return self._read(frame, in_backward=False, module=module)

    def _read(self, frame: FrameType | None, *, in_backward: bool, module: nn.Module | None = None) -> Place:
        stack: list[tuple[str, int]] = []
        root = module
        foreign = self._foreign
        while frame is not None:
            code = frame.f_code
            if code is CALLS_MODULE:
                root = frame.f_locals["self"]
                module = root if module is None else module
            elif in_backward and code.co_filename in ENGINE:
                break
            else:
                name = code.co_filename
                is_foreign = foreign.get(name)
                if is_foreign is None:
                    is_foreign = foreign[name] = name.startswith(_FOREIGN)
                if not is_foreign and len(stack) < _DEEPEST:
                    stack.append((name, frame.f_lineno or 0))
            frame = frame.f_back
        key = (tuple(stack), "" if module is None else self._name(module, root))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = Place(*key)
        return found

    def _name(self, module: nn.Module, root: Any) -> str:  # noqa: ANN401 - a module
        """What the outermost module that runs calls this one: `Net.encoder.pad`."""
        root, module = (getattr(each, "_orig_mod", each) for each in (root, module))  # without what compiles it
        known = self._names.get(id(root))
        if known is None or known[0]() is not root:
            names = {id(each): name for name, each in root.named_modules()}
            known = self._names[id(root)] = (weakref.ref(root), names)
        name = known[1].get(id(module), type(module).__name__)
        return ".".join(filter(None, (type(root).__name__, name)))


def caller(depth: int = 1) -> FrameType | None:
    return sys._getframe(depth + 1)  # noqa: SLF001 - the frames of the program are what is told
