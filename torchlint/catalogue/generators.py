"""The typed form of `rules/registry/generators.toml`: seeds and generators by name."""

from __future__ import annotations

import re
from typing import Literal

import msgspec


class Split(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Splits of data that draw from a generator, named as in `randomness.toml`, unless they are given an argument."""

    generator: str
    argument: str
    calls: tuple[str, ...]


class DrawingObjects(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Objects that draw from generators of their own whenever they are called, by what makes them: regular expressions.

    `holding`: only if the first argument is a list with a call of such a name.
    """

    made_by: str
    holding: str = ""

    def __post_init__(self) -> None:
        for name in ("made_by", "holding"):
            try:
                re.compile(getattr(self, name))
            except re.error as error:
                raise ValueError(f"`{name}`: {error}") from error


class Environments(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Of reinforcement learning: who makes and trains in them, which of them draw, and who seeds none."""

    makers: frozenset[str]
    algorithms: frozenset[str]
    random: str
    """A regular expression for their names."""
    elsewhere: frozenset[str]

    def __post_init__(self) -> None:
        try:
            re.compile(self.random)
        except re.error as error:
            raise ValueError(f"`random`: {error}") from error


class GeneratorFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Names where the effect on a whole program does not matter."""

    sources: tuple[str, ...]
    setters: frozenset[str]
    """Calls that take a seed."""
    without_argument: frozenset[str]
    """Calls that seed with a number of the system's."""
    entropy: frozenset[str]
    """Calls that give another number each time."""
    with_own_generators: frozenset[str]
    """Libraries whose `seed=` concerns the object at hand."""
    makers: frozenset[str]
    draws: frozenset[str]
    """What makes a generator that an object may keep, and the methods that draw from one."""
    drawing_objects: tuple[DrawingObjects, ...]
    seeders: dict[Literal["torch", "numpy", "random", "all"], frozenset[str]]
    """Functions that seed what all code of a process draws from, by whose numbers they seed."""
    split: tuple[Split, ...]
    environments: Environments
