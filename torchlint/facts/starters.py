"""What a call gives, and what calls that run functions for others (`Process`, `pool.map`) give those functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.facts.values import argument_of

if TYPE_CHECKING:
    from torchlint.catalogue.programs import Starter
    from torchlint.facts.file import FileFacts

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
    rank = (None,) if starter.rank else ()
    return (*rank, *_spread(given)), tuple(_spread_keywords(named))


def _spread(given: ast.expr | None) -> Iterator[ast.expr]:
    """The elements of `args=(model, 3)`; `args=given` is `*given`."""
    if isinstance(given, ast.Tuple | ast.List):
        yield from given.elts
    elif given is not None:
        yield ast.Starred(given, ast.Load())


def _spread_keywords(named: ast.expr | None) -> Iterator[tuple[str | None, ast.expr]]:
    """The entries of `kwargs={"seed": 3}`; `kwargs=options` is `**options`."""
    if not isinstance(named, ast.Dict):
        yield from [(None, named)] if named is not None else ()
        return
    for key, value in zip(named.keys, named.values, strict=True):
        yield key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else None, value
