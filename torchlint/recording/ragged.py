"""Rows of different lengths as inputs: kept as a plain tensor, and made into what the code takes when it is called.

So they are copied, moved, grown and compared as any tensor is, and gradients reach the tensor.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch.nn.utils.rnn import PackedSequence, pack_sequence


class Packed(NamedTuple):
    rows: torch.Tensor

    def given(self) -> PackedSequence:
        return pack_sequence(_cut(self.rows))


class Nested(NamedTuple):
    rows: torch.Tensor

    def given(self) -> torch.Tensor:
        return torch.nested.as_nested_tensor(_cut(self.rows))


def given(value: Any) -> Any:  # noqa: ANN401 - any input
    """An input as the code takes it."""
    return value.given() if isinstance(value, (Packed, Nested)) else value


def _cut(rows: torch.Tensor) -> list[torch.Tensor]:
    """From the full length down to half of it, as such rows are packed: none is longer than that before it."""
    length, several = rows.shape[1], len(rows)
    return [row[: max(1, length - (place * length + 1) // (2 * several))] for place, row in enumerate(rows)]
