"""The tensors, and the modules, inside whatever a model or a training step takes and returns."""

from __future__ import annotations

import dataclasses
import functools
import types
from collections.abc import Iterator, Mapping

import torch
from torch import nn
from torch.nn.utils.rnn import PackedSequence

from torchlint.recording.ragged import Nested, Packed

_DEEPEST = 6
"""Results are nested a few levels deep; objects that hold each other would never end."""
_NOT_ENTERED = (type, nn.Module, torch.optim.Optimizer)
"""What an optimizer holds are the parameters of a module that is elsewhere."""


def tensors_in(value: object, path: str = "", depth: int = 0) -> Iterator[tuple[str, torch.Tensor]]:
    """Every tensor in a value with its place (`[0].logits`): in sequences, mappings, data classes and plain objects."""
    if isinstance(value, torch.Tensor):
        yield path, value
        return
    if depth >= _DEEPEST:
        return
    for place, item in _items(value):
        yield from tensors_in(item, path + place, depth + 1)


def modules_in(value: object, path: str = "", depth: int = 0) -> Iterator[tuple[str, nn.Module]]:
    """Every module in a value with its place, the outermost only: its parts come with it."""
    if isinstance(value, nn.Module):
        yield path, value
        return
    if depth >= _DEEPEST:
        return
    for place, item in _items(value):
        yield from modules_in(item, path + place, depth + 1)


def _items(value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, Mapping):
        yield from ((f"[{key!r}]", item) for key, item in value.items())
    elif isinstance(value, PackedSequence):
        yield ".data", value.data  # the others say how its rows lie: with other values it would be none
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        yield from ((f".{name}", getattr(value, name)) for name in value._fields)
    elif isinstance(value, (list, tuple)):
        yield from ((f"[{index}]", item) for index, item in enumerate(value))
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield from ((f".{field.name}", getattr(value, field.name, None)) for field in dataclasses.fields(value))
    elif isinstance(getattr(value, "__dict__", None), dict) and not isinstance(value, _NOT_ENTERED):
        yield from ((f".{name}", item) for name, item in vars(value).items())


def float_tensors(value: object) -> dict[str, torch.Tensor]:
    """Copies of those that hold real or complex numbers: a later pass may write into the memory of an earlier."""
    return {
        place: tensor.detach().clone()
        for place, tensor in tensors_in(value)
        if tensor.is_floating_point() or tensor.is_complex()
    }


def as_reals(tensor: torch.Tensor) -> torch.Tensor:
    """Complex numbers as pairs of real ones, which have roundings to be counted in."""
    return torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor


def described(value: object) -> str:
    """A tensor as `float32[2,3,64,64]`; anything else by its Python source, cut short."""
    in_words = getattr(type(value), "in_words", None)
    if in_words is not None:  # an object that torchlint invented
        return f"<{in_words(value)}>"
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')}[{','.join(map(str, value.shape))}]"
    if isinstance(value, PackedSequence):
        return f"PackedSequence({described(value.data)})"
    if isinstance(value, (Packed, Nested)):
        return f"{type(value).__name__.lower()} rows of {described(value.rows)}"
    if isinstance(value, (list, tuple)):
        inner = ", ".join(described(item) for item in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' if len(value) == 1 else ''})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {described(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (type, types.FunctionType)):
        return value.__qualname__
    if isinstance(value, functools.partial):
        given = [described(value.func), *map(described, value.args)]
        return (
            f"partial({', '.join([*given, *(f'{name}={described(each)}' for name, each in value.keywords.items())])})"
        )
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - the representation of an object of the user's
        return f"<{type(value).__name__}>"
    return text if len(text) <= 60 else f"<{type(value).__name__}>"
