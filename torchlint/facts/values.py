"""Constants that code may show, and what calls give: to what they run, or hand to what runs it (`pool.map`)."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, TypeVar

import msgspec

from torchlint.facts.tree import literal_text

if TYPE_CHECKING:
    from torchlint.catalogue.programs import Starter
    from torchlint.facts.file import FileFacts

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
    return [*call.args, *[keyword.value for keyword in call.keywords]]


def may_be_hidden(call: ast.Call, position: int | None) -> bool:
    """Whether `*args` or `**kwargs` may carry the argument without showing it."""
    if any(keyword.arg is None for keyword in call.keywords):
        return True
    return position is not None and any(isinstance(argument, ast.Starred) for argument in call.args[: position + 1])


Arguments = tuple[tuple[ast.expr | None, ...], tuple[tuple[str | None, ast.expr], ...]]
"""What a call gives: by position, where None stands for what is not written out, such as an element of what `map` goes
through; and by keyword, where None stands for `**`."""


def arguments_of(call: ast.Call, after: int = 0) -> Arguments:
    """What a call gives, but for its first arguments."""
    return tuple(call.args[after:]), tuple((one.arg, one.value) for one in call.keywords)


def starter_of(facts: FileFacts, call: ast.Call, scope: int) -> Starter | None:
    """The entry of the catalogue for a call that runs a function which it is handed."""
    return facts.resolver.table.starters.get(facts.names(call.func, scope).only or "")


def handed_function(starter: Starter, call: ast.Call) -> ast.expr | None:
    """The function that a call of a starter hands over."""
    return argument_of(call, starter.function.argument, starter.function.position)


def handed_arguments(starter: Starter, call: ast.Call) -> Arguments:
    """What a starter gives the function that it is handed."""
    if starter.rest == "arguments":
        return arguments_of(call, after=1)
    if starter.rest == "elements":
        return tuple(None for _ in call.args[1:]), ()
    if starter.rest == "rows":
        return tuple(ast.Starred(rows, ast.Load()) for rows in call.args[1:2]), ()
    given, named = (
        None if one is None else argument_of(call, one.argument, one.position)
        for one in (starter.arguments, starter.keywords)
    )
    positional: list[ast.expr | None] = [None] if starter.rank else []
    if isinstance(given, (ast.Tuple, ast.List)):
        positional += given.elts
    elif given is not None:  # `args=given` is `*given`
        positional.append(ast.Starred(given, ast.Load()))
    if not isinstance(named, ast.Dict):  # `kwargs=options` is `**options`
        return tuple(positional), () if named is None else ((None, named),)
    pairs = zip(named.keys, named.values, strict=True)
    return tuple(positional), tuple((literal_text(key) or None, value) for key, value in pairs)
