"""Inputs of other types than a plain tensor: packed and nested sequences, complex numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from torchlint.recording.building.failures import user_line
from torchlint.recording.building.layers import SEQUENCE
from torchlint.recording.building.plans import Change, Kind, Plan, Tensor, changed, of_kind, tensors_of


def by_type(error: BaseException, plan: Plan) -> Iterator[dict[str, Any]]:
    """Each tensor in turn as what the error asks for."""
    text = f"{error} {user_line(error)}"
    for change in (change for pattern, change in _TYPES if re.search(pattern, text)):
        for name, tensor in tensors_of(plan):
            if tensor.kind in ("normal", "unit"):
                yield changed(plan, change, name)


def as_sequences(tensor: Tensor, kind: Kind) -> Tensor:
    """As rows of different lengths, which have three dimensions."""
    width = tensor.sizes[-1] if len(tensor.sizes) < 4 else tensor.sizes[1]
    return (tensor if len(tensor.sizes) == 3 else tensor.resized(3, SEQUENCE, width)).of(kind)


_TYPES: Sequence[tuple[str, Change]] = (
    (
        r"has no attribute '(batch_sizes|sorted_indices|unsorted_indices)'|PackedSequence|\bpacked\b",
        lambda tensor: as_sequences(tensor, "packed"),
    ),
    (r"nested", lambda tensor: as_sequences(tensor, "nested")),
    (r"complex|ComplexFloat|ComplexHalf|view_as_real|imag is not implemented", of_kind("complex")),
)
"""What an error, or the line that raised it, says of the type that it wants."""
