"""What is chosen from a table of functions, classes or objects: `MODELS[name]`, `cls.table.get(name)`, `losses[0]`."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.facts.full_names import MOST_CHOICES, UNKNOWN, Names, dotted, union_of
from torchlint.facts.moves import moved
from torchlint.facts.notation import is_result, name_in, symbol_of
from torchlint.facts.scopes import Binding, BindingKind
from torchlint.facts.tree import last_word

if TYPE_CHECKING:
    from torchlint.facts.names import Resolver

Entry = tuple["Resolver", ast.expr, int]
"""A value, and the file and the scope in which it stands."""
Variable = tuple["Resolver", int, str]
"""A name, and the file and the scope that bind it."""

_MOST = 8
"""Bindings of a variable that is a table; in machine-written files, names are bound hundreds of times."""


def chosen(resolver: Resolver, table: ast.expr, scope: int, key: ast.expr | None = None) -> Names:
    """The entry of a table that is written out; any of them where the key is no literal, and others it may hold."""
    entries = list(itertools.islice(_entries(resolver, table, scope, key), MOST_CHOICES + 1))
    if not 0 < len(entries) <= MOST_CHOICES:
        return UNKNOWN
    # Objects that are written out together are all there are; of classes and functions, others may be registered.
    are_objects = all(isinstance(value, ast.Call) for _, value, _ in entries)
    return union_of([home.names(value, where) for home, value, where in entries], complete=are_objects)


def listed(resolver: Resolver, binding: Binding) -> Names:
    """`for loss in losses`: any entry of the list."""
    loop = binding.statement
    if not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Name):
        return UNKNOWN
    return chosen(resolver, loop.iter, binding.scope, ast.Slice())


def _entries(
    resolver: Resolver, table: ast.expr, scope: int, key: ast.expr | None, *, nested: bool = True
) -> Iterator[Entry]:
    """The values of all that a table, or an entry of one, may be; each variable that may stand for it is asked once."""
    waiting: list[Entry] = [(resolver, table, scope)]
    seen: set[tuple[str, int, str]] = set()
    while waiting:
        home, expression, where = waiting.pop()
        if isinstance(expression, ast.Subscript) and isinstance(expression.slice, ast.Constant) and nested:
            waiting += _entries(home, expression.value, where, expression.slice, nested=False)
        yield from ((home, one, where) for one in _written(expression, key) if _may_name(one))
        for owner, index, name in _variables(home, expression, where):
            if (owner.path, index, name) not in seen:
                seen.add((owner.path, index, name))
                waiting += _bound(owner, index, name)


def _written(table: ast.expr, key: ast.expr | None) -> list[ast.expr]:
    """The values that a table is written with, under a literal key only its own."""
    literal = key.value if isinstance(key, ast.Constant) else None
    if isinstance(table, (ast.List, ast.Tuple)):
        return table.elts[literal : literal + 1] if type(literal) is int and literal >= 0 else table.elts
    if not isinstance(table, ast.Dict) or isinstance(key, ast.Slice):
        return []  # a dictionary has no slices; who goes through it gets its keys
    pairs = zip(table.keys, table.values, strict=True)
    same = [value for name, value in pairs if isinstance(name, ast.Constant) and name.value == literal]
    return same if literal is not None and same else table.values


def _may_name(entry: ast.expr) -> bool:
    """Whether an entry is a name, a table, or made by a class; what functions compute is nobody's choice."""
    made = moved(entry) or entry
    if isinstance(made, ast.Call):
        return last_word(made.func)[:1].isupper()
    return isinstance(entry, (ast.Dict, ast.List, ast.Tuple)) or dotted(entry) is not None


def _variables(resolver: Resolver, table: ast.expr, scope: int) -> Iterator[Variable]:
    """The variable that a name stands for, or an attribute of a module or class."""
    if isinstance(table, ast.Name):
        bound_in = resolver.owner(table.id, scope)
        yield from () if bound_in is None else [(resolver, bound_in.index, table.id)]
    elif isinstance(table, ast.Attribute):
        value, owner = table.value, resolver.symbols.scopes[scope].owner
        if isinstance(value, ast.Name) and value.id in ("self", "cls"):  # in a method they are the class
            holders = [] if owner is None else [name_in(resolver.path, resolver.symbols.scopes[owner].qualname)]
        else:
            found = resolver.names(value, scope).of_project
            holders = [name for name in found if not is_result(name)]
        for name in holders:
            path, qualname = symbol_of(name)
            if path == resolver.path:
                scopes = [one.index for one in resolver.symbols.scopes if one.qualname == qualname]
                yield from ((resolver, index, table.attr) for index in scopes[:1])
            elif not qualname and (home := resolver.modules.at(path)) is not None:
                yield home.resolver, 0, table.attr


def _bound(resolver: Resolver, scope: int, name: str) -> Iterator[Entry]:
    """What binds a variable; what is imported is a name of the other file."""
    bindings = resolver.symbols.scopes[scope].bindings.get(name, [])
    for binding in bindings if len(bindings) <= _MOST else ():
        if binding.value is not None and binding.kind is not BindingKind.PART:
            yield resolver, binding.value, binding.scope
        elif binding.target is not None and binding.target.name is not None:
            home = resolver.modules.find(binding.target, resolver.path)
            yield from () if home is None else [(home.resolver, ast.Name(binding.target.name, ast.Load()), 0)]
