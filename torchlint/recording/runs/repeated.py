"""The same run again and again: whether its bits stay, and which operator is the first whose bits do not."""

from __future__ import annotations

import dataclasses
import time
from dataclasses import dataclass
from typing import Any

import torch

from torchlint.recording.comparison.bits import distance, same_bits
from torchlint.recording.comparison.differences import difference
from torchlint.recording.comparison.ulp_histogram import ulp_histogram
from torchlint.recording.runs.result_log import Source, sources
from torchlint.recording.subject import Pass, Subject
from torchlint.recording.tensors import tensors_in

SCALES = (1, 4, 16, 64, 256)
"""Copies of the inputs along their first dimension: races of the CPU begin where work is split between threads, and on
a busy machine a longer operator shows them when many short ones do not."""

_MOST_ELEMENTS = 12_000_000
"""Of all inputs together; beyond, runs take too long."""


@dataclass(frozen=True)
class Repeated:
    """How often it was run at each scale, and the first difference if there was one."""

    runs: dict[int, int]
    """By scale: the copies of the inputs."""
    sizes: dict[int, tuple[tuple[int, ...], ...]]
    difference: Difference | None = None
    sources: tuple[Source, ...] = ()
    """Operators that differed on equal operands, in the order of the run; empty where none could be named."""


@dataclass(frozen=True)
class Difference:
    """Where the first run and another differ."""

    scale: int
    run: int
    """From 2: the run that differs from the first."""
    tensor: str
    """As `gradient of head.weight`."""
    elements: int
    of: int
    greatest: float
    max_ulp: float | None
    """In units of the last place, above a floor; None for other types, and below the floor."""
    histogram: dict[str, list[str] | list[int]] | None


def repeat(subject: Subject, runs: int, seconds: float) -> Repeated:
    """Run from one state until bits differ, at growing scales, until the time is used up."""
    end = time.monotonic() + seconds
    counts: dict[int, int] = {}
    sizes: dict[int, tuple[tuple[int, ...], ...]] = {}
    for scale in SCALES:
        scaled = subject if scale == 1 else _scaled(subject, scale)
        if scaled is None or (counts and time.monotonic() > end):
            break
        sizes[scale] = tuple(tuple(tensor.shape) for _, tensor in tensors_in((scaled.args, scaled.kwargs)))
        found, counts[scale] = _first_difference(scaled, scale, runs, end)
        if found is not None:
            return Repeated(counts, sizes, found, sources(scaled, 10, end + seconds))
    return Repeated(counts, sizes)


def _first_difference(subject: Subject, scale: int, runs: int, end: float) -> tuple[Difference | None, int]:
    first = subject.run()
    for run in range(2, runs + 1):
        other = subject.run()
        found = _difference(first, other, scale, run)
        if found is not None:
            return found, run
        if time.monotonic() > end and run >= 3:
            return None, run
    return None, runs


def _difference(first: Pass, other: Pass, scale: int, run: int) -> Difference | None:
    for (name, before), after in zip(first.tensors.items(), other.tensors.values(), strict=False):
        if not same_bits(before, after):
            ulps = difference(before, after).max_ulp
            return Difference(scale, run, name, *distance(before, after), ulps, ulp_histogram(before, after))
    return None


def _scaled(subject: Subject, scale: int) -> Subject | None:
    """The same with more rows, where the module takes them; indices of a graph get longer instead of its nodes."""
    for grow in (_more_rows, _longer_indices):
        args, kwargs = grow(subject.args, scale), grow(subject.kwargs, scale)
        elements = sum(tensor.numel() for _, tensor in tensors_in((args, kwargs)))
        if elements > _MOST_ELEMENTS:
            continue
        scaled = dataclasses.replace(subject, args=args, kwargs=kwargs)
        try:
            scaled.run()
        except Exception:  # noqa: BLE001, S112 - sizes that the module does not take are no finding
            continue
        return scaled
    return None


def _more_rows(value: Any, scale: int) -> Any:  # noqa: ANN401 - any input
    return _grown(value, lambda tensor: tensor.repeat(scale, *([1] * (tensor.ndim - 1))) if tensor.ndim else tensor)


def _longer_indices(value: Any, scale: int) -> Any:  # noqa: ANN401
    def longer(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.is_floating_point() or not tensor.ndim:
            return tensor
        return tensor.repeat(*([1] * (tensor.ndim - 1)), scale)

    return _grown(value, longer)


def _grown(value: Any, grow: Any) -> Any:  # noqa: ANN401
    if isinstance(value, torch.Tensor):
        grown: torch.Tensor = grow(value.detach())
        return grown.requires_grad_(value.requires_grad)
    if isinstance(value, dict):
        return {key: _grown(item, grow) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_grown(item, grow) for item in value))
    if isinstance(value, (list, tuple)):
        return type(value)(_grown(item, grow) for item in value)
    return value
