"""Where modules were constructed, kept beside them: what the program saves of a module shall hold nothing of this."""

from __future__ import annotations

import copy
import functools
import sys
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any

from torch import nn

from torchlint.recording.in_command.files import Files, Line
from torchlint.recording.messages import ProbedFinding
from torchlint.recording.tracing.lines import constructing_frames

_COPIES: Any = copy._reconstruct.__code__  # type: ignore[attr-defined]  # noqa: SLF001 - it alone knows the original


@dataclass(frozen=True)
class Construction:
    """Modules of one class that were constructed at one line."""

    lines: tuple[Line, ...]
    """The lines of its own constructors that led to torch's, and last the call of its class."""
    findings: tuple[ProbedFinding, ...]


class Constructors:
    """Remembers for each module that is made from now on where that happened; a copy has the place of its original."""

    def __init__(self, files: Files, trouble: Callable[[Exception], None]) -> None:
        self._files = files
        self._trouble = trouble
        self._places: dict[int, tuple[weakref.ref[nn.Module], Construction]] = {}
        self._known: dict[tuple[Line, ...], Construction] = {}
        self._unknown = Construction((), ())

    def of(self, module: nn.Module) -> Construction:
        found = self._places.get(id(module))
        return found[1] if found is not None and found[0]() is module else self._unknown

    def begin(self) -> None:
        plain: Any = nn.Module.__init__
        plain_copy: Any = nn.Module.__setstate__

        @functools.wraps(plain)
        def remembering(module: nn.Module, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - torch's own signature
            try:
                self._keep(module, self._lines(sys._getframe(1), module))  # noqa: SLF001
            except Exception as error:  # noqa: BLE001 - the user's program goes on
                self._trouble(error)
            plain(module, *args, **kwargs)

        @functools.wraps(plain_copy)
        def remembering_copy(module: nn.Module, state: Any) -> None:  # noqa: ANN401 - torch's own signature
            caller = sys._getframe(1)  # noqa: SLF001
            if caller.f_code is _COPIES:
                self._keep(module, self.of(caller.f_locals["x"]).lines)
            plain_copy(module, state)

        nn.Module.__init__ = remembering  # type: ignore[method-assign, assignment]
        nn.Module.__setstate__ = remembering_copy  # type: ignore[method-assign]

    def _lines(self, frame: FrameType, module: nn.Module) -> tuple[Line, ...]:
        frames = constructing_frames(frame, module)
        return tuple((self._files.of(each.f_code.co_filename).path, each.f_lineno or 0) for each in frames)

    def _keep(self, module: nn.Module, lines: tuple[Line, ...]) -> None:
        if self.of(module).lines:
            return  # its constructor called torch's twice
        construction = self._known.get(lines)
        if construction is None:
            construction = self._known[lines] = Construction(lines, self._files.findings_at(lines))
        self._places[id(module)] = (weakref.ref(module), construction)
