"""Inputs of other types than a plain tensor: packed and nested sequences, complex numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from torchlint.recording.building.failures import user_line
from torchlint.recording.building.layers import SEQUENCE
from torchlint.recording.building.plans import Change, Kind, Plan, Tensor, changed, of_kind, tensors_of

_TYPES: Sequence[tuple[str, Kind]] = (
    (r"has no attribute '(batch_sizes|sorted_indices|unsorted_indices)'|PackedSequence|\bpacked\b", "packed"),
    (r"nested", "nested"),
    (r"complex|ComplexFloat|ComplexHalf|view_as_real|imag is not implemented", "complex"),
)
"""What an error, or the line that raised it, says of the type that it wants."""


def by_type(error: BaseException, plan: Plan) -> Iterator[dict[str, Any]]:
    """Each tensor in turn as what the error asks for."""
    text = f"{error} {user_line(error)}"
    for pattern, kind in _TYPES:
        if not re.search(pattern, text):
            continue
        for name, tensor in tensors_of(plan):
            if tensor.kind in ("normal", "unit"):
                yield changed(plan, _CHANGES[kind], name)


def as_sequences(tensor: Tensor, kind: Kind) -> Tensor:
    """As rows of different lengths, which have three dimensions."""
    width = tensor.sizes[-1] if len(tensor.sizes) < 4 else tensor.sizes[1]
    return (tensor if len(tensor.sizes) == 3 else tensor.resized(3, SEQUENCE, width)).of(kind)


_CHANGES: Mapping[Kind, Change] = {
    "packed": lambda tensor: as_sequences(tensor, "packed"),
    "nested": lambda tensor: as_sequences(tensor, "nested"),
    "complex": of_kind("complex"),
}
