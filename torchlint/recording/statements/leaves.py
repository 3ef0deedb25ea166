"""A value taken apart into plain leaves, so that two runs in different processes can be compared."""

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

MOST_LEAVES = 20_000
_DEEPEST = 8
_SMALL = 64
"""Tensors up to this size are compared element by element, so that the report can name one."""
_ORDER = " (order of the keys)"


GENERATOR = " (state)"
"""What follows the place of a random generator."""


class Leaves(msgspec.Struct, frozen=True):
    """Leaf by place, such as `["forest"]` or `.files[0]`."""

    leaves: dict[str, str]
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
    """Both hold the same leaves, in other places."""


def leaves_of(value: object, name: str = "") -> Leaves:
    """The leaves of one value; their places begin with its name."""
    walk = _Walk()
    found: dict[str, str] = {}
    for place, leaf in walk.leaves(value, name, 0):
        if len(found) >= MOST_LEAVES:
            walk.is_whole = False
            break
        found[place] = leaf
    return Leaves(found, walk.is_whole)


def joined(parts: Iterable[Leaves]) -> Leaves:
    parts = list(parts)
    leaves = {place: leaf for part in parts for place, leaf in part.leaves.items()}
    return Leaves(leaves, all(part.is_whole for part in parts))


def difference(first: Leaves, second: Leaves) -> Difference | None:
    places = dict.fromkeys([*first.leaves, *second.leaves])
    differing = [place for place in places if first.leaves.get(place) != second.leaves.get(place)]
    if not differing:
        return None
    content = [place for place in differing if not place.endswith(_ORDER)]
    place = (content or differing)[0]
    return Difference(
        place=place,
        first=first.leaves.get(place, "missing"),
        second=second.leaves.get(place, "missing"),
        differing=len(content or differing),
        compared=len(places),
        only_key_order=not content,
        is_permutation=sorted(first.leaves.values()) == sorted(second.leaves.values()),
    )


class _Walk:
    def __init__(self) -> None:
        self.is_whole = True
        self._above: list[int] = []

    def leaves(self, value: object, place: str, depth: int) -> Iterator[tuple[str, str]]:
        if depth > _DEEPEST or id(value) in self._above:
            self.is_whole = False
            return
        if isinstance(value, (bool, int, float, complex, str, bytes, type(None))):
            yield place, repr(value)
        elif isinstance(value, os.PathLike):
            yield place, repr(os.fspath(value))
        elif isinstance(value, torch.Tensor):
            yield from _tensor_leaves(value.detach(), place)
        elif type(value).__module__ == "numpy" and hasattr(value, "tolist"):
            yield from self.leaves(value.tolist(), place, depth + 1)
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
                yield from self.leaves(item, f"{place}[{index}]", depth + 1)
        elif isinstance(value, (set, frozenset)):
            yield from self._members(value, place)
        elif (state := generator_state(value)) is not None:
            yield f"{place}{GENERATOR}", state
        elif isinstance(value, torch.optim.Optimizer):
            yield from self.leaves([group["params"] for group in value.param_groups], place, depth + 1)
        elif isinstance(value, torch.nn.Module):
            yield from self.leaves(dict(value.state_dict()), place, depth + 1)
        elif _is_plain_object(value):
            for name, item in vars(value).items():
                yield from self.leaves(item, f"{place}.{name}", depth + 1)
        else:
            self.is_whole = False

    def _entries(self, value: Mapping[Any, Any], place: str, depth: int) -> Iterator[tuple[str, str]]:
        keys = [self._key(key) for key in value]
        yield f"{place}.length", str(len(keys))
        for key, item in zip(keys, value.values(), strict=True):
            if key is not None:
                yield from self.leaves(item, f"{place}[{key}]", depth + 1)
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


def _tensor_leaves(value: torch.Tensor, place: str) -> Iterator[tuple[str, str]]:
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
