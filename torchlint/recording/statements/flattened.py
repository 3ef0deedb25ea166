"""A value flattened to plain ones by place, so that two runs in different processes can be compared."""

from __future__ import annotations

import ctypes
import math
import os
import random
import types
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
import torch

MOST_VALUES = 20_000
_DEEPEST = 8
_SMALL = 64
"""Tensors up to this size are compared element by element, so that the report can name one."""
_ORDER = " (order of the keys)"


GENERATOR = " (state)"
"""What follows the place of a random generator."""


class Flattened(msgspec.Struct, frozen=True):
    """Plain values by place, such as `["forest"]` or `.files[0]`."""

    by_place: dict[str, str]
    is_whole: bool = True
    """False where parts could not be taken apart, or were too many."""


class Difference(msgspec.Struct, frozen=True):
    """The first place in which two results differ, and how many do."""

    place: str
    first: str
    second: str
    differing: int
    compared: int
    only_key_order: bool
    is_permutation: bool
    """Both hold the same values, in other places."""


def flattened(value: object, name: str = "") -> Flattened:
    """The plain values that one is made of; their places begin with its name."""
    flattening = _Flattening()
    found: dict[str, str] = {}
    for place, shown in flattening.flatten(value, name, 0):
        if len(found) >= MOST_VALUES:
            flattening.is_whole = False
            break
        found[place] = shown
    return Flattened(found, flattening.is_whole)


def joined(parts: Iterable[Flattened]) -> Flattened:
    parts = list(parts)
    by_place = {place: shown for part in parts for place, shown in part.by_place.items()}
    return Flattened(by_place, all(part.is_whole for part in parts))


def difference(first: Flattened, second: Flattened) -> Difference | None:
    places = dict.fromkeys([*first.by_place, *second.by_place])
    differing = [place for place in places if first.by_place.get(place) != second.by_place.get(place)]
    if not differing:
        return None
    content = [place for place in differing if not place.endswith(_ORDER)]
    place = (content or differing)[0]
    return Difference(
        place=place,
        first=first.by_place.get(place, "missing"),
        second=second.by_place.get(place, "missing"),
        differing=len(content or differing),
        compared=len(places),
        only_key_order=not content,
        is_permutation=sorted(first.by_place.values()) == sorted(second.by_place.values()),
    )


class _Flattening:
    def __init__(self) -> None:
        self.is_whole = True
        self._above: list[int] = []

    def flatten(self, value: object, place: str, depth: int) -> Iterator[tuple[str, str]]:
        if depth > _DEEPEST or id(value) in self._above:
            self.is_whole = False
            return
        if isinstance(value, (bool, int, float, complex, str, bytes, type(None))):
            yield place, repr(value)
        elif isinstance(value, os.PathLike):
            yield place, repr(os.fspath(value))
        elif isinstance(value, torch.Tensor):
            yield from _tensor_values(value.detach(), place)
        elif type(value).__module__ == "numpy" and hasattr(value, "tolist"):
            yield from self.flatten(value.tolist(), place, depth + 1)
        else:
            self._above.append(id(value))
            yield from self._parts(value, place, depth)
            self._above.pop()

    def _parts(self, value: object, place: str, depth: int) -> Iterator[tuple[str, str]]:
        if isinstance(value, Mapping):
            yield from self._entries(value, place, depth)
        elif isinstance(value, (list, tuple)):
            yield f"{place}.length", str(len(value))
            for index, item in enumerate(value):
                yield from self.flatten(item, f"{place}[{index}]", depth + 1)
        elif isinstance(value, (set, frozenset)):
            yield from self._members(value, place)
        elif (state := generator_state(value)) is not None:
            yield f"{place}{GENERATOR}", state
        elif isinstance(value, torch.optim.Optimizer):
            yield from self.flatten([group["params"] for group in value.param_groups], place, depth + 1)
        elif isinstance(value, torch.nn.Module):
            yield from self.flatten(dict(value.state_dict()), place, depth + 1)
        elif _is_plain_object(value):
            for name, item in vars(value).items():
                yield from self.flatten(item, f"{place}.{name}", depth + 1)
        else:
            self.is_whole = False

    def _entries(self, value: Mapping[Any, Any], place: str, depth: int) -> Iterator[tuple[str, str]]:
        keys = [self._key(key) for key in value]
        yield f"{place}.length", str(len(keys))
        for key, item in zip(keys, value.values(), strict=True):
            if key is not None:
                yield from self.flatten(item, f"{place}[{key}]", depth + 1)
        yield f"{place}{_ORDER}", ", ".join(str(key) for key in keys[:_SMALL])

    def _members(self, value: set[Any] | frozenset[Any], place: str) -> Iterator[tuple[str, str]]:
        """What a set holds, without an order: it has none."""
        yield f"{place}.length", str(len(value))
        for key in sorted(key for key in map(self._key, value) if key is not None):
            yield f"{place}{{{key}}}", key

    def _key(self, key: object) -> str | None:
        plain = (bool, int, float, str, bytes, type(None), os.PathLike)
        if isinstance(key, tuple):
            parts = [self._key(part) for part in key]
            return None if None in parts else f"({', '.join(part for part in parts if part)})"
        if isinstance(key, plain):
            return repr(os.fspath(key) if isinstance(key, os.PathLike) else key)
        self.is_whole = False
        return None


def _tensor_values(value: torch.Tensor, place: str) -> Iterator[tuple[str, str]]:
    yield f"{place}.shape", f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
    if value.layout != torch.strided or value.is_quantized:
        value = value.to_dense() if value.layout != torch.strided else value.dequantize()
    flat = value.cpu().reshape(-1)
    if math.prod(value.shape) <= _SMALL:
        for index, element in enumerate(flat.tolist()):
            yield f"{place}[{index}]", repr(element)
    else:
        contents = ctypes.string_at(flat.contiguous().data_ptr(), flat.numel() * flat.element_size())
        yield f"{place} (all elements)", f"{zlib.crc32(contents):08x}"


def generator_state(value: object) -> str | None:
    """The state of a generator of torch, NumPy or Python in a few letters; None for anything else."""
    if isinstance(value, torch.Generator):
        return _short(value.get_state().tolist())
    if isinstance(value, random.Random):
        return _short(value.getstate())
    if type(value).__module__.startswith("numpy.random"):
        if type(value).__name__ == "Generator":
            return _short(value.bit_generator.state)  # type: ignore[attr-defined]
        if type(value).__name__ == "RandomState":
            return _short([part if isinstance(part, str) else repr(part) for part in _words(value)])
    return None


def _words(state: Any) -> list[Any]:  # noqa: ANN401 - NumPy is not imported here
    name, words, *rest = state.get_state()
    return [name, words.tolist(), *rest]


def _short(state: object) -> str:
    return f"{zlib.crc32(repr(state).encode()):08x}"


def _is_plain_object(value: object) -> bool:
    """An instance of a class written in Python: its attributes are all there is to it."""
    is_instance = not isinstance(value, (type, types.ModuleType)) and not callable(value)
    return is_instance and isinstance(getattr(value, "__dict__", None), dict)
