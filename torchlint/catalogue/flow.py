"""The typed form of `rules/registry/flow/`: what calls do to values on their way."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import msgspec


class Containers(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What calls do to the entries of containers, by full names of functions and names of methods."""

    sources: tuple[str, ...]
    making: frozenset[str]
    passing: frozenset[str]
    flattening: frozenset[str]
    mappings: frozenset[str]
    objects: frozenset[str]
    taking: frozenset[str]
    keeping: frozenset[str]
    copying: frozenset[str]
    extending: frozenset[str]
    known: frozenset[str]
    asking: frozenset[str]
    adding: dict[str, int]
    """The place of the argument that is put into the container."""


class Orders(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, dict=True):
    """What becomes of an order, by full names of functions and words of methods."""

    sources: tuple[str, ...]
    listed: frozenset[str]
    keeping: frozenset[str]
    arrays: frozenset[str]
    stacks: frozenset[str]
    tables: frozenset[str]
    spelling: frozenset[str]
    numbers: frozenset[str]
    keeping_methods: frozenset[str]
    keeping_attributes: frozenset[str]
    picked: frozenset[str]
    reducing: frozenset[str]
    showing: frozenset[str]
    read: frozenset[str]
    exporting: frozenset[str]
    written: dict[str, int]
    decides: dict[str, frozenset[str]]

    @cached_property
    def kept_by(self) -> frozenset[str]:
        """The calls whose result has the order of what they are given, tables aside."""
        return self.keeping | self.arrays | self.stacks

    @cached_property
    def decided_by(self) -> Mapping[str, str]:
        """What the order decides that comes to a call, by the call's full name."""
        return {call: what for what, calls in self.decides.items() for call in calls}


class Quiet(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What never waits for a device: full names of functions and of modules, names of methods."""

    functions: frozenset[str]
    homes: frozenset[str]
    methods: frozenset[str]


class HostCopies(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What becomes of a copy in host memory, by full names of functions and names of methods."""

    sources: tuple[str, ...]
    reading: frozenset[str]
    viewing: frozenset[str]
    moving: frozenset[str]
    asking: frozenset[str]
    quiet: Quiet
