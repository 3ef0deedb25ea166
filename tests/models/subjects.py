"""Models to measure, by the library that builds them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

from tests.models.measuring import Held, measure

_MOST = 500_000_000
"""Parameters of a model that is run with values: a limit of time would leave out others on each machine."""


def ramp(*shape: int, like: nn.Module) -> torch.Tensor:
    """An input that is not drawn, on the device of a model, and of its type."""
    first = next(like.parameters())
    return torch.linspace(0, 1, math.prod(shape), device=first.device).reshape(shape).to(first.dtype)


@dataclass(frozen=True)
class Subject:
    """One model, under every name by which code builds it."""

    calls: tuple[str, ...]
    """Full names, as `torchvision.models.resnet18`."""
    make: Callable[[], nn.Module]
    run: Callable[[nn.Module], object]
    model: str = ""
    """What a maker is given: the beginning of the names of a family, as `deit_` in `timm.create_model`."""
    needs_values: bool = False
    """It only runs on the CPU: what it does hangs on the values of its tensors."""
    measured: str = ""
    """The model of the family that was run, where not all are."""
    otherwise: tuple[Subject, ...] = ()
    """How else it may be built and run, where the first way fails."""

    @property
    def label(self) -> str:
        return self.measured or self.calls[0]

    def held(self) -> Held:
        """As the first way shows that does not fail; where all do, the first error says why."""
        errors: list[Exception] = []
        for one in (self, *self.otherwise):
            try:
                return one._measured()
            except Exception as error:  # noqa: BLE001 - whatever a library raises for an input of another shape
                errors.append(error)
        raise errors[0]

    def _measured(self) -> Held:
        """On the device "meta", which computes nothing, or else on the CPU."""
        for make in () if self.needs_values else (self._without_values, self._in_half, self._emptied):
            try:
                return measure(make(), self.run)
            except (NotImplementedError, RuntimeError):
                continue
        model = self.make()
        if sum(one.numel() for one in model.parameters()) > _MOST:
            raise LookupError(f"more than {_MOST:,} parameters")
        return measure(model, self.run)

    def _without_values(self) -> nn.Module:
        with torch.device("meta"):
            return self.make()

    def _in_half(self) -> nn.Module:
        """Products of many matrices in groups ask for it there."""
        return self._without_values().to(torch.bfloat16)

    def _emptied(self) -> nn.Module:
        return self.make().to("meta")
