"""Work of the recorder in the midst of the program: nothing of the program sees it, what breaks is written down."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import torch
from torch.utils import _python_dispatch as dispatch

_MOST_TROUBLES = 20


class Aside:
    """Knows for each thread whether the recorder itself is at work."""

    def __init__(self) -> None:
        self._threads = threading.local()
        self.troubles: list[str] = []

    @property
    def is_at_work(self) -> bool:
        return getattr(self._threads, "is_at_work", False)

    def do(self, work: Callable[..., Any], *args: Any) -> Any:  # noqa: ANN401 - whatever it takes and gives
        """The result of the work; None where it broke, or where the recorder is at work already."""
        if self.is_at_work:
            return None
        self._threads.is_at_work = True
        try:
            with torch._C.DisableTorchFunction():  # noqa: SLF001 - modes and subclasses see the calls of torch else
                if torch._C._len_torch_dispatch_stack() < 2:  # noqa: SLF001 - the recorder's own mode, or none
                    return work(*args)
                with dispatch._disable_current_modes():  # noqa: SLF001 - the user's own modes lie on top
                    return work(*args)
        except Exception as error:  # noqa: BLE001 - the user's program goes on
            self.trouble(f"{type(error).__name__}: {error}")
            return None
        finally:
            self._threads.is_at_work = False

    def trouble(self, words: str) -> None:
        if words not in self.troubles and len(self.troubles) < _MOST_TROUBLES:
            self.troubles.append(words)
