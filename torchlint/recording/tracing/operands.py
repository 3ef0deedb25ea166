"""What of the operands of one call decides whether it varies: repeated indices, overlapping windows, ties."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import torch

from torchlint.recording.comparison.bits import checksum
from torchlint.recording.tracing.events import Operand, Repetition
from torchlint.recording.tracing.indices import Arguments, has_conflicts, written_places

_MOST_PLACES = 20_000_000
"""Sorting more of them takes seconds."""


def operands_of(arguments: Arguments) -> tuple[Operand, ...]:
    """The tensors among the arguments of an operator, by the names of its schema."""
    found = []
    for name, value in arguments.items():
        values = value if isinstance(value, (list, tuple)) else (value,)
        found += [
            Operand(name, element_type(each.dtype), tuple(each.shape), each.layout != torch.strided)
            for each in values
            if isinstance(each, torch.Tensor)
        ]
    return tuple(found)


def element_type(dtype: torch.dtype) -> Literal["float", "complex", "integer", "bool"]:
    if dtype == torch.bool:
        return "bool"
    if dtype.is_complex:
        return "complex"
    return "float" if dtype.is_floating_point else "integer"


def repetition_of(operator: str, arguments: Arguments) -> Repetition | None:
    """How often it writes to one place; None where it has no index, or too many to look at."""
    places = written_places(operator, arguments)
    if places is None or places.numel() > _MOST_PLACES:
        return None
    distinct = int(places.unique().numel())
    conflicts = has_conflicts(operator, arguments, places) if distinct < places.numel() else False
    return Repetition(places.numel(), distinct, conflicts, fingerprint=checksum(places))


def windows_overlap(operator: str, arguments: Arguments) -> bool | None:
    """Whether two pooling windows share an element, or a view holds one twice; None for what has neither."""
    if operator.rstrip("_") == "as_strided":
        return _meets_itself(arguments.get("size"), arguments.get("stride"))
    source = arguments.get("self")
    if not isinstance(source, torch.Tensor) or "pool" not in operator:
        return None
    if "adaptive" in operator:
        size = arguments.get("output_size")
        if size is None and isinstance(arguments.get("grad_output"), torch.Tensor):
            count = 3 if "3d" in operator else 2
            size = arguments["grad_output"].shape[-count:]
        if not size:
            return None
        ends = list(zip(source.shape[-len(size) :], size, strict=True))
        return any(out not in (1, length) and length % out for length, out in ends)
    window = arguments.get("kernel_size")
    if not window:
        return None
    stride = arguments.get("stride") or window
    dilation = arguments.get("dilation") or [1]
    spread = [(size - 1) * step + 1 for size, step in zip(window, _repeated(dilation, len(window)), strict=True)]
    return any(step < size for step, size in zip(_repeated(stride, len(window)), spread, strict=True))


def _meets_itself(size: Sequence[int] | None, stride: Sequence[int] | None) -> bool | None:
    """Whether a view may hold an element twice: some step is no longer than all that the smaller steps span."""
    if size is None or stride is None:
        return None
    spanned = 0
    for step, length in sorted((abs(step), length) for step, length in zip(stride, size, strict=True) if length > 1):
        if step <= spanned:
            return True
        spanned += step * (length - 1)
    return False


def _repeated(values: list[int], count: int) -> list[int]:
    return list(values) * count if len(values) == 1 else list(values)


def has_ties(operator: str, arguments: Arguments) -> bool | None:
    """Whether equal values compete for an index that is returned; None for what chooses none."""
    if operator not in ("kthvalue", "median", "nanmedian", "mode", "topk", "sort", "max", "min"):
        return None
    values = arguments.get("self")
    if not isinstance(values, torch.Tensor) or not values.ndim:
        return None
    ordered = values.detach().sort(dim=arguments.get("dim", -1)).values
    dimension = arguments.get("dim", -1)
    length = ordered.shape[dimension]
    if length < 2:
        return False
    before, after = ordered.narrow(dimension, 0, length - 1), ordered.narrow(dimension, 1, length - 1)
    return bool((before == after).any())


def sums_sparse_entries(arguments: Arguments) -> bool | None:
    """Whether a row of a sparse operand holds several entries; None where no operand is sparse."""
    sparse = [each for each in arguments.values() if isinstance(each, torch.Tensor) and each.layout != torch.strided]
    if not sparse:
        return None
    return any(_has_full_row(each.detach()) for each in sparse)


def _has_full_row(matrix: torch.Tensor) -> bool:
    rows = matrix.to_sparse_coo().coalesce().indices()[:-1]
    if not rows.shape[0]:  # a sparse vector is one row
        return bool(rows.shape[1] > 1)
    return bool(rows.shape[1] and rows.unique(dim=1).shape[1] < rows.shape[1])
