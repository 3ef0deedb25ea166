"""What a value is followed back to, and how far."""

from __future__ import annotations

import ast
import enum

import msgspec

from torchlint.facts.flow.values import Path


class Through(enum.IntFlag):
    """What a question follows besides names, choices and attributes of `self`."""

    NOTHING = 0
    PARAMETERS = enum.auto()
    """To their defaults, and to what calls in the file give."""
    RESULTS = enum.auto()
    """To what functions of the file return."""
    CHANGES = enum.auto()
    """Past `x += y`, which changes a value and leaves it what it is: a tensor, on a device, of floats."""
    CONTENTS = enum.auto()
    """Into containers and objects: to the entry or the attribute that is read, whenever it was put there."""


EVERYWHERE = Through.PARAMETERS | Through.RESULTS | Through.CONTENTS


class Definition(msgspec.Struct, frozen=True):
    """An expression that a value is, or that it is a part of."""

    node: ast.expr
    scope: int
    parts: Path = ()
    """What leads to it in the expression: positions in what is unpacked, `EACH` for what is gone through."""


class Parameter(msgspec.Struct, frozen=True):
    """What a function is given from out of sight."""

    function: int
    name: str
    parts: Path = ()


End = Definition | Parameter | None
"""None stands for what is not seen."""
