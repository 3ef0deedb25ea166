"""Lines for the nodes of the graph, by torch's anomaly mode, without its costs and its checks.

In that mode torch asks for a traceback whenever a node is made. It gets a cheap one; a program that turns the mode on
itself gets what it asks for, and one that turns it off changes nothing here.
"""

from __future__ import annotations

import functools
import re
import sys
import warnings
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar

import torch
import torch.fx.traceback

RECORDED = "(seen by torchlint's recorder)"
"""Tells a traceback of this kind from one that the program asked for."""
_Trace = TypeVar("_Trace", bound=list[str])


class FullTraceback(list[str]):
    """What a program gets that turns the anomaly mode on itself."""

    def __init__(self, traceback: list[str], trace: list[str]) -> None:
        super().__init__(traceback)
        self.trace = trace


def trace_of(node: Any, kind: type[_Trace]) -> _Trace | None:  # noqa: ANN401 - torch annotates it wrongly
    """The trace of the place where a node of the graph was made; None for a node that was made unseen."""
    found = node.metadata.get("traceback_")
    trace = found.trace if isinstance(found, FullTraceback) else found
    return trace if isinstance(trace, kind) else None


class Anomaly:
    def __init__(self, trace: Callable[[FrameType | None], list[str]], trouble: Callable[[Exception], None]) -> None:
        self._trace = trace
        self._trouble = trouble
        self._asked_for = False
        """By the program itself."""

    def begin(self) -> None:
        # In this mode torch warns when a backward breaks, with the traceback: that is for programs that asked for it.
        warnings.filterwarnings("ignore", message=rf"(?s)Error detected in .*{re.escape(RECORDED)}")
        self._answer_with_traces()
        self._stay_on()

    def _answer_with_traces(self) -> None:
        plain = torch.fx.traceback.format_stack

        @functools.wraps(plain)
        def format_stack() -> list[str]:
            if torch.fx.traceback.has_preserved_node_meta():
                return plain()
            try:
                trace = self._trace(sys._getframe().f_back)  # noqa: SLF001 - none on a thread of the engine
            except Exception as error:  # noqa: BLE001 - the user's program goes on
                self._trouble(error)
                return plain()
            return FullTraceback(plain(), trace) if self._asked_for else trace

        torch.fx.traceback.format_stack = format_stack

    def _stay_on(self) -> None:
        plain: Any = torch.set_anomaly_enabled

        @functools.wraps(plain)
        def set_anomaly_enabled(enabled: bool, check_nan: bool = True) -> None:  # noqa: FBT001, FBT002 - torch's own
            self._asked_for = enabled
            plain(True, check_nan and enabled)  # noqa: FBT003

        @functools.wraps(torch.is_anomaly_enabled)
        def is_anomaly_enabled() -> bool:
            return self._asked_for

        plain(True, False)  # noqa: FBT003
        torch.set_anomaly_enabled = set_anomaly_enabled
        torch.is_anomaly_enabled = is_anomaly_enabled
