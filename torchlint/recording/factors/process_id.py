"""The process id held fixed, for code that may take a seed or a name from it."""

from __future__ import annotations

import os

from torchlint.recording.factors.callers import calling_package, machinery_calls
from torchlint.recording.factors.imports import after_import
from torchlint.recording.factors.replacing import renew_names, replace
from torchlint.recording.factors.streams import number_of_process

TYPE_CHECKING = False  # `typing` takes a while to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

_real_id = os.getpid
_ABOUT_PROCESSES = frozenset({"psutil", "pynvml", "wandb", "ray", "joblib", "loky", "billiard", "distributed"})
"""Packages that hand the number on to the system or to other processes."""
_TAKING_ONE = (
    *("kill", "getpgid", "setpgid", "getsid", "pidfd_open", "waitpid", "sched_getscheduler", "sched_getparam"),
    *("sched_getaffinity", "sched_setaffinity"),
)


def hold_process_id() -> None:
    def getpid() -> int:
        if machinery_calls() or calling_package() in _ABOUT_PROCESSES:
            return _real_id()
        return number_of_process()

    replace(os, "getpid", lambda _: getpid)
    renew_names({_real_id: os.getpid})
    for name in _TAKING_ONE:
        replace(os, name, _meaning_this_process)
    after_import("process-id", "psutil", _hold_psutil)


def _meaning_this_process(plain: Callable[..., Any]) -> Callable[..., Any]:
    def with_real_id(pid: int, *given: Any) -> Any:  # noqa: ANN401 - passed on as they are
        return plain(_real(pid), *given)

    return with_real_id


def _hold_psutil(psutil: ModuleType) -> None:
    def make(plain: Callable[..., None]) -> Callable[..., None]:
        def __init__(self: object, pid: int | None = None) -> None:  # noqa: N807 - the method's own name
            plain(self, _real(pid))

        return __init__

    replace(psutil.Process, "__init__", make)


def _real(pid: Any) -> Any:  # noqa: ANN401 - what is no number is refused by the system's own function
    return _real_id() if pid == number_of_process() else pid
