"""Inputs before they are made: sizes and kind of each tensor, so that a repair can change them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch.nn.utils.rnn import PackedSequence

from torchlint.recording.options import Options
from torchlint.recording.ragged import Nested, Packed

Kind = Literal[
    "normal", "unit", "whole", "truth", "identity", "groups", "quaternion", "complex", "packed", "nested", "boxes"
]
"""`packed` and `nested` hold rows of different lengths: as a `PackedSequence`, and as a nested tensor."""


@dataclass(frozen=True)
class Tensor:
    """A tensor to be made. `high` is the first whole number that does not occur."""

    sizes: tuple[int, ...]
    kind: Kind = "normal"
    high: int = 2

    def made(self, generator: torch.Generator) -> torch.Tensor | Packed | Nested:
        if self.kind == "whole":
            return torch.randint(0, max(1, self.high), self.sizes, generator=generator)
        if self.kind == "truth":
            return torch.ones(self.sizes, dtype=torch.bool)
        if self.kind == "identity":
            return torch.eye(self.sizes[-1]).expand(self.sizes).clone()
        if self.kind == "groups":
            return torch.randint(0, max(1, self.high), self.sizes, generator=generator).sort(-1).values
        if self.kind == "unit":
            return torch.rand(self.sizes, generator=generator)
        if self.kind == "complex":
            return torch.randn(self.sizes, generator=generator, dtype=torch.complex64)
        if self.kind == "boxes":  # a corner, and one that lies below and to the right of it
            corners = torch.rand(self.sizes, generator=generator) / 2
            return torch.cat([corners[..., :2], corners[..., :2] + corners[..., 2:] + 0.1], -1)
        values = torch.randn(self.sizes, generator=generator)
        if self.kind in ("packed", "nested"):
            return Packed(values) if self.kind == "packed" else Nested(values)
        return torch.nn.functional.normalize(values, dim=-1) if self.kind == "quaternion" else values

    def resized(self, *sizes: int) -> Tensor:
        is_square = len(sizes) > 1 and sizes[-1] == sizes[-2]
        kind = "normal" if self.kind == "identity" and not is_square else self.kind
        return dataclasses.replace(self, sizes=sizes, kind=kind)

    def of(self, kind: Kind, high: int = 2) -> Tensor:
        return dataclasses.replace(self, kind=kind, high=high)


class Bundle(Options):
    """Tensors that are one input, and are read as its attributes: a batch of a graph, say."""

    def to(self, *_args: object, **_kwargs: object) -> Bundle:
        return self

    cuda = cpu = clone = to


Plan = Mapping[str, Any]
"""By parameter: tensors to be made, in lists, tuples and dictionaries, beside plain values."""


def made(value: Any, generator: torch.Generator) -> Any:  # noqa: ANN401 - any input
    if isinstance(value, Tensor):
        return value.made(generator)
    if isinstance(value, (list, tuple)):
        return type(value)(made(item, generator) for item in value)
    if isinstance(value, dict):
        return type(value)({key: made(item, generator) for key, item in value.items()})
    return value


def detached(value: Any) -> Any:  # noqa: ANN401 - any input
    """A copy of the inputs of a call in the middle of a model, without what leads back into it."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if isinstance(value, PackedSequence):
        return value._replace(data=detached(value.data))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(detached, value))
    if isinstance(value, (list, tuple)):
        return type(value)(map(detached, value))
    if isinstance(value, dict):
        return type(value)({key: detached(item) for key, item in value.items()})
    return value


def tensors_of(plan: Plan) -> Iterator[tuple[str, Tensor]]:
    """Every tensor with the parameter it belongs to."""
    for name, value in plan.items():
        for tensor in _inside(value):
            yield name, tensor


def _inside(value: Any) -> Iterator[Tensor]:  # noqa: ANN401 - any input
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _inside(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _inside(item)


Change = Callable[[Tensor], Tensor]


def of_kind(kind: Kind, high: int = 2) -> Change:
    return lambda tensor: tensor.of(kind, high)


def resized_to(*sizes: int) -> Change:
    return lambda tensor: tensor.resized(*sizes)


def imaged(size: int, kept: int = 2) -> Change:
    """Height and width, and depth, become `size`; the first few dimensions are kept."""
    return lambda tensor: tensor.resized(*tensor.sizes[:kept], *[size] * (len(tensor.sizes) - kept))


def exchanging(old: int, new: int, place: int | None = None) -> Change:
    """One size for another, everywhere or at one place only."""

    def change(tensor: Tensor) -> Tensor:
        sizes = list(tensor.sizes)
        for at in range(len(sizes)) if place is None else [place]:
            if -len(sizes) <= at < len(sizes) and sizes[at] == old:
                sizes[at] = new
        return tensor.resized(*sizes)

    return change


def changed(plan: Plan, change: Change, only: str | None = None) -> dict[str, Any]:
    """The plan with each tensor changed, or with those of one parameter."""
    return {name: _changed(value, change) if only in (None, name) else value for name, value in plan.items()}


def _changed(value: Any, change: Change) -> Any:  # noqa: ANN401 - any input
    if isinstance(value, Tensor):
        return change(value)
    if isinstance(value, (list, tuple)):
        return type(value)(_changed(item, change) for item in value)
    if isinstance(value, dict):
        return type(value)({key: _changed(item, change) for key, item in value.items()})
    return value
