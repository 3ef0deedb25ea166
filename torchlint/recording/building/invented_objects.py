"""Objects that stand for what a parameter takes, where a number, a text or a layer alone does not do."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from torchlint.recording.building.scope import InventedConfig, Scope


class InventedModule(nn.Module):
    """A module of which options are read: `backbone.out_channels` has an invented value.

    It gives back what it is given, times a parameter: nobody says what shape else.
    """

    def __init__(self, scope: Scope) -> None:
        super().__init__()
        self.factor = nn.Parameter(torch.ones(()))
        self.options = InventedConfig(scope)

    def forward(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - any inputs
        given = next(iter((*args, *kwargs.values())), self.factor)
        return given * self.factor if isinstance(given, torch.Tensor) and given.is_floating_point() else given

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - a part of the module, or an option
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name.startswith("_") or "options" not in vars(self):  # it is being copied
                raise
            return getattr(self.options, name)

    def read(self) -> Iterator[tuple[tuple[str, ...], Any]]:
        """Every option that was read, with its place."""
        return self.options.read()

    def changed(self, path: tuple[str, ...], value: object) -> InventedModule:
        """A copy in which one option is another."""
        other = copy.deepcopy(self)
        other.options = self.options.changed(path, value)
        return other

    def in_words(self) -> str:
        return "invented module"

    def __repr__(self) -> str:
        return f"invented module with {self.options!r}"


class Words(dict[str, int]):
    """A vocabulary: whatever word is asked for has a number below its size."""

    def __init__(self, size: int) -> None:
        super().__init__({f"word {number}": number for number in range(size)})

    def __missing__(self, word: object) -> int:
        return sum(map(ord, str(word))) % max(1, len(self))

    def in_words(self) -> str:
        return f"invented vocabulary of {len(self)} words"
