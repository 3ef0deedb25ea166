"""The typed form of `rules/registry/values.toml`: kinds of values, types of elements and numbers of dimensions."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from typing import Literal, TypeVar

import msgspec

Key = TypeVar("Key")


class Kind(enum.Enum):
    TENSOR = "tensor"
    MODULE = "module"
    NDARRAY = "ndarray"
    SET = "set"
    TEXT = "text"
    """str or bytes: what Python salts when it hashes."""
    NUMBER = "number"
    PATH = "path"
    OTHER = "other"
    """Known, and none of these."""
    UNKNOWN = "unknown"


class Generics(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Annotations of what holds others."""

    sequences: frozenset[str]
    mappings: frozenset[str]
    tuples: frozenset[str]


class ValueFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What code gives, by full names."""

    sources: tuple[str, ...]
    like_first: frozenset[str]
    """Functions that give a value of the kind of their first argument."""
    transparent: frozenset[str]
    """Decorators that leave alone what a function returns."""
    wrapping: frozenset[str]
    """What gives a module that runs another, its first argument."""
    data: frozenset[str]
    """Functions that give what no gradient flows through."""
    not_one_tensor: tuple[str, ...]
    """Parts of the names of layers that give something else than one tensor."""
    tensor_first: tuple[str, ...]
    """Those of layers that give a tensor, and what else they found."""
    keeping_dimensions: frozenset[str]
    """Layers that take several numbers of dimensions, and leave them as they are."""
    calls: dict[Kind, frozenset[str]]
    methods: dict[Kind, frozenset[str]]
    """Those that give a value of the kind they are called on."""
    attributes: dict[Kind, dict[str, Kind]]
    annotations: dict[Kind, frozenset[str]]
    generics: Generics
    elements: dict[Literal["integer", "float", "complex", "bool"], frozenset[str]]
    maps_by_key: frozenset[str]
    layers: dict[str, frozenset[int]]
    models: dict[str, frozenset[int]]
    functions: dict[str, frozenset[int]]
    modes: dict[str, frozenset[int]]
    """The numbers of dimensions that layers, models and functions take and return, and that interpolation takes."""


def by_name(table: Mapping[Key, Iterable[str]]) -> dict[str, Key]:
    """The key that a table lists each name under."""
    return {name: key for key, names in table.items() for name in names}
