"""What loops and comprehensions go through, and which part of each element a name gets."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.facts.flow.values import Item, Path
from torchlint.facts.scopes import Binding

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_PASSING = frozenset({"tqdm", "trange", "iter", "islice", "track", "list", "tuple", "sorted", "reversed"})
"""Functions that give the elements of their first argument as they are, by their last names."""


def loops_of(facts: FileFacts, binding: Binding, owner: int, name: str) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The target and what is gone through, of the loop or the comprehension that binds a name."""
    loop = binding.statement if isinstance(binding.statement, ast.For | ast.AsyncFor) else None
    # The owner is a comprehension, or else binds by a statement.
    around = getattr(facts.symbols.scopes[owner].node, "generators", () if loop is None else (loop,))
    yield from ((one.target, one.iter) for one in around if place_in(one.target, name) is not None)


def place_in(target: ast.expr, name: str) -> Path | None:
    """The positions that lead to a name in a target: 1, 0 for `x` in `i, (x, y)`; None where it is not there."""
    if isinstance(target, ast.Name):
        return () if target.id == name else None
    for position, element in enumerate(target.elts if isinstance(target, ast.Tuple | ast.List) else ()):
        inner = place_in(element, name)
        if inner is not None:
            return (Item(position), *inner)
    return None


def gone_through(facts: FileFacts, iterated: ast.Call, scope: int, parts: Path) -> tuple[ast.expr, Path] | None:
    """What `enumerate(x)`, `zip(x, y)` or `tqdm(x)` takes a part of an element from, and the part of its own."""
    last = (facts.names(iterated.func, scope).only or "").rpartition(".")[2]
    given = iterated.args
    if not given or any(isinstance(argument, ast.Starred) for argument in given):
        return None
    if last in _PASSING:
        return given[0], parts
    place = parts[0].key if parts and isinstance(parts[0], Item) else None
    if last == "enumerate" and place == 1:
        return given[0], parts[1:]
    if last == "zip" and isinstance(place, int) and place < len(given):
        return given[place], parts[1:]
    return None


def entries_gone_through(iterated: ast.Call, parts: Path) -> tuple[ast.expr, Path] | None:
    """The table that `x.values()` or the second part of `x.items()` takes an entry from, and the part of that."""
    if iterated.args or not isinstance(iterated.func, ast.Attribute):
        return None
    if iterated.func.attr == "values":
        return iterated.func.value, parts
    is_value = iterated.func.attr == "items" and parts[:1] == (Item(1),)
    return (iterated.func.value, parts[1:]) if is_value else None
