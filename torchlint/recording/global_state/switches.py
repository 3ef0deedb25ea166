"""torch's global switches: a probe turns some, the user's code turns others, and none may stay turned."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.utils.deterministic


@contextmanager
def restored_switches() -> Iterator[None]:
    """Put every switch back afterwards, whatever happened in between. Warnings are kept to themselves."""
    before = _switches()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        # Only what changed: some setters import half of torch.
        for (setter, value), (_, now) in zip(before, _switches(), strict=True):
            if now != value:
                setter(value)


def _switches() -> list[tuple[Callable[[Any], Any], Any]]:
    """Each switch as its setter and its present value."""
    return [
        (torch.set_default_dtype, torch.get_default_dtype()),
        (torch.set_num_threads, torch.get_num_threads()),
        (torch.set_grad_enabled, torch.is_grad_enabled()),
        (_set_matmul_precision, _matmul_precision()),
        (torch.autograd.set_detect_anomaly, torch.is_anomaly_enabled()),
        (_set_deterministic, _deterministic()),
        _attribute(torch.backends.cudnn, "benchmark"),
        _attribute(torch.backends.cudnn, "deterministic"),
        _attribute(torch.backends.cudnn, "enabled"),
        _attribute(torch.utils.deterministic, "fill_uninitialized_memory"),
    ]


def _matmul_precision() -> str | None:
    """None where the user's code set it by the newer names, beside which torch refuses to tell it by the older one."""
    try:
        return torch.get_float32_matmul_precision()
    except RuntimeError:
        return None


def _set_matmul_precision(value: str | None) -> None:
    if value is not None:
        torch.set_float32_matmul_precision(value)


def _deterministic() -> tuple[bool, bool]:
    return torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()


def _set_deterministic(mode: tuple[bool, bool]) -> None:
    torch.use_deterministic_algorithms(mode[0], warn_only=mode[1])


def _attribute(owner: object, name: str) -> tuple[Callable[[Any], Any], Any]:
    return (lambda value: setattr(owner, name, value)), getattr(owner, name, None)
