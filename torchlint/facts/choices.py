"""What is chosen from a table of functions and classes: `{"a": A}[name]`, `MODELS[name]`, `cls.table.get(name)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.facts.full_names import UNKNOWN, Names, union_of

if TYPE_CHECKING:
    from torchlint.facts.names import Resolver

_DEPTH = 4
"""Names that stand for one table, one after another."""


def chosen(resolver: Resolver, table: ast.expr, scope: int, depth: int) -> Names:
    """Any entry of a table that is written out; what else it may hold is not known."""
    options = [home.names(value, where, depth) for home, value, where in _entries(resolver, table, scope, _DEPTH)]
    return union_of(options, complete=False) if options else UNKNOWN


Entry = tuple["Resolver", ast.expr, int]
"""A value, the file and the scope in which it stands."""


def _entries(resolver: Resolver, table: ast.expr, scope: int, depth: int) -> Iterator[Entry]:
    if isinstance(table, ast.Dict):
        yield from ((resolver, one, scope) for one in table.values if isinstance(one, ast.Name | ast.Attribute))
    elif depth and isinstance(table, ast.Name):
        owner = resolver.owner(table.id, scope)
        yield from _bound(resolver, owner.index, table.id, depth) if owner is not None else ()
    elif depth and isinstance(table, ast.Attribute):
        for name in _holders(resolver, table.value, scope):
            path, _, qualname = name.partition("::")
            if path == resolver.path:
                places = [one.index for one in resolver.symbols.scopes if one.qualname == qualname][:1]
                yield from (entry for place in places for entry in _bound(resolver, place, table.attr, depth))
            elif not qualname and (home := resolver.modules.at(path)) is not None:
                yield from _bound(home.resolver, 0, table.attr, depth)


def _holders(resolver: Resolver, value: ast.expr, scope: int) -> Iterator[str]:
    """The modules and classes that an attribute is read of; in a method `cls` and `self` are the class."""
    if isinstance(value, ast.Name) and value.id in ("self", "cls"):
        owner = resolver.symbols.scopes[scope].owner
        yield from () if owner is None else [f"{resolver.path}::{resolver.symbols.scopes[owner].qualname}"]
    else:
        yield from (name for name in resolver.names(value, scope).of_project if not name.endswith("()"))


def _bound(resolver: Resolver, scope: int, name: str, depth: int) -> Iterator[Entry]:
    for binding in resolver.symbols.scopes[scope].bindings.get(name, ()):
        if binding.value is not None:
            yield from _entries(resolver, binding.value, binding.scope, depth - 1)
        elif binding.target is not None and binding.target.name is not None:
            home = resolver.modules.find(binding.target, resolver.path)
            yield from _bound(home.resolver, 0, binding.target.name, depth - 1) if home is not None and depth else ()
