"""The mode that every operator passes while the user's command runs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import torch

from torchlint.recording.in_command.numbers import as_tensors
from torchlint.recording.tracing.dispatch_mode import PlainMode

if TYPE_CHECKING:
    from torchlint.recording.in_command.session import Session


class CommandRecorder(PlainMode):
    """Entered once for each thread that it records."""

    def __init__(self, session: Session) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._session = session
        self._is_looking = False

    def __torch_dispatch__(
        self,
        called: Any,  # noqa: ANN401 - torch's own signature, here and below
        types: Any,  # noqa: ANN401
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401
        del types
        if not self._is_looking:
            self._is_looking = True  # what is asked of tensors meanwhile is dispatched as well
            try:
                # None where the engine works for a GPU, on a thread of its own: nobody called there.
                self._session.see(called, args, kwargs or {}, sys._getframe().f_back)  # noqa: SLF001
            except Exception as error:  # noqa: BLE001 - the user's program goes on
                self._session.trouble(error)
            finally:
                self._is_looking = False
        args = as_tensors(called, args)
        return called(*args, **kwargs) if kwargs else called(*args)


def current_node() -> Any:  # noqa: ANN401 - torch annotates it wrongly
    """The node of the graph whose backward runs; None in a forward pass."""
    return torch._C._current_autograd_node()  # noqa: SLF001 - nothing public tells it
