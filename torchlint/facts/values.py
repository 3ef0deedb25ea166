"""Constants that code may show, and the arguments of calls."""

from __future__ import annotations

import ast
from typing import TypeVar

import msgspec

Known = TypeVar("Known")
Constant = str | int | float | bool | None
"""Of literals; bytes and complex numbers decide nothing, and count as unknown."""


def same_constant(one: object, other: object) -> bool:
    """Whether two constants are the same argument: True == 1 in Python, but a flag is no number."""
    return isinstance(one, bool) == isinstance(other, bool) and one == other


class Values(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The constants an expression may be. `complete` is False when it may be something else besides."""

    constants: tuple[Constant, ...] = ()
    complete: bool = False

    @property
    def is_known(self) -> bool:
        return self.complete and bool(self.constants)

    def only(self, kind: type[Known]) -> Known | None:
        """The one constant of a type that it is for certain."""
        only = self.constants[0] if self.is_known and len(self.constants) == 1 else None
        return only if isinstance(only, kind) else None

    @property
    def text(self) -> str | None:
        """How the one constant that it is for certain is read as text."""
        only = self.only(object)
        return None if only is None else str(only)


def argument_of(call: ast.Call, name: str, position: int | None) -> ast.expr | None:
    """The expression given for one parameter, by keyword or position; None when it is not evidently given."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    if position is None or position >= len(call.args):
        return None
    before = call.args[: position + 1]
    return None if any(isinstance(argument, ast.Starred) for argument in before) else before[-1]


def all_given(call: ast.Call) -> list[ast.expr]:
    """What a call gives, by position and by keyword."""
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def may_be_hidden(call: ast.Call, position: int | None) -> bool:
    """Whether `*args` or `**kwargs` may carry the argument without showing it."""
    if any(keyword.arg is None for keyword in call.keywords):
        return True
    return position is not None and any(isinstance(argument, ast.Starred) for argument in call.args[: position + 1])
