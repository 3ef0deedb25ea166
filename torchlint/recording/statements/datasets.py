"""A data set of our own, for loaders whose data nobody has."""

from __future__ import annotations

from typing import Any

import torch


class CountedSamples(torch.utils.data.Dataset[Any]):
    """Sample `i` is the number `i`."""

    def __init__(self, size: int) -> None:
        self._size = size

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, index: int) -> torch.Tensor:
        if not 0 <= index < self._size:
            raise IndexError(index)
        return torch.tensor(float(index))
