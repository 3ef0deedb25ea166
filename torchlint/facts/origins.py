"""Where a value comes from that another file has: what is asked of that file, and what it answers."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import msgspec

from torchlint.facts.callees import names_called
from torchlint.facts.calls import called_at, callers, function_named
from torchlint.facts.definitions import definitions_of
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.expressions import symbols_called
from torchlint.facts.flow.values import CALLED, EVERYWHERE, Definition, End, Field, Parameter, Path
from torchlint.facts.functions import is_plain, own_scope, returned_values
from torchlint.facts.grouping import grouped
from torchlint.facts.notation import is_in, is_module, is_of_project, name_in, plain, result_of, symbol_of
from torchlint.facts.scopes import BindingKind, ScopeKind
from torchlint.facts.values import argument_of

_BELOW_ALL = 1_000_000_000
"""A line."""


class Argument(msgspec.Struct, frozen=True, array_like=True, gc=False, tag=True):
    """What calls of other files give a parameter."""

    name: str
    place: int | None


class Origin(msgspec.Struct, frozen=True, array_like=True, gc=False, tag=True):
    """Where a value comes into the file, as plain data: a result, an argument, a name of another module."""

    symbol: str
    """The full name of what is called: a function, a class, or (`Net()`) its object; of a module, `::` ends it."""
    port: Argument | Field | None
    """None: what calling it gives."""
    path: Path


def beyond(facts: FileFacts, end: End) -> Origin | None:
    """What is asked of other files for a value. Where calls in this file give a parameter, they say what it is."""
    if isinstance(end, Parameter):
        function = facts.symbols.scopes[end.function]
        if function.kind is not ScopeKind.FUNCTION or callers(facts, end.function):
            return None
        place = called_at(facts, function, end.name)
        if place is not None and place < 0:
            return None  # the object of a method is no argument
        symbol = facts.full_name(end.function).removesuffix(".__init__")
        return Origin(symbol, Argument(end.name, place), end.parts)
    if end is not None and isinstance(end.node, ast.Call):
        name = names_called(facts, end.node.func, end.scope).only or ""
        is_of_another = is_of_project(name) and not is_module(name) and not is_in(name, facts.path)
        return Origin(name, None, end.parts) if is_of_another else None
    # A name that this file has from another, or a name of a module that it imports.
    bindings = [] if end is None else facts.bindings(end.node, end.scope)
    target = bindings[0].target if len(bindings) == 1 and bindings[0].kind is BindingKind.IMPORT else None
    if end is None or target is None:
        return None
    module = facts.names(end.node, end.scope).only or ""
    if is_module(module):
        return Origin(module, end.parts[0], end.parts[1:]) if end.parts and isinstance(end.parts[0], Field) else None
    home = None if target.name is None else facts.resolver.modules.locate(target, facts.path)
    return None if home is None or target.name is None else Origin(name_in(home), Field(target.name), end.parts)


def definitions_behind(facts: FileFacts, origin: Origin) -> Iterator[End]:
    """What this file says of a value that another has from it; None where it does not tell."""
    if isinstance(origin.port, Argument):
        found = _given(facts, origin.symbol, origin.port, origin.path)
    elif isinstance(origin.port, Field):
        found = iter([Definition(_named(origin.port.name), 0, origin.path)])
    else:
        found = _made(facts, origin.symbol, origin.path)
    for one in found:
        yield from [None] if one is None else definitions_of(facts, one.node, one.scope, EVERYWHERE, one.parts)


def _named(name: str) -> ast.Name:
    """A name as it is read after all that the module does."""
    return ast.Name(name, ast.Load(), lineno=_BELOW_ALL, col_offset=0)


def _made(facts: FileFacts, symbol: str, path: Path) -> Iterator[Definition | None]:
    """What a function returns; an attribute of an object that a class makes."""
    owner = own_scope(facts, symbol)
    if path[:1] == (CALLED,) and owner is not None and facts.symbols.scopes[owner].kind is ScopeKind.CLASS:
        yield from _made(facts, result_of(symbol), path[1:])
        return
    target = function_named(facts, symbol)
    if owner is not None and facts.symbols.scopes[owner].kind is ScopeKind.CLASS:
        yield Definition(_named(symbol_of(symbol)[1]), 0, path) if path else None
    elif target is None or not is_plain(facts, target.function):
        yield None
    else:
        values = returned_values(facts, target.function.index) or [ast.Constant(None)]
        yield from (Definition(value, target.function.index, path) for value in values)


def called_as(symbol: str) -> set[str]:
    """The names by which calls run a function: calling a module runs its `forward`."""
    owner, _, method = symbol.rpartition(".")
    return {symbol, result_of(owner), f"{owner}.__call__"} if method == "forward" else {symbol}


def _given(facts: FileFacts, symbol: str, argument: Argument, path: Path) -> Iterator[Definition | None]:
    calls = facts.cached(_calls_beyond)
    for number in sorted({number for name in called_as(symbol) for number in calls.get(name, ())}):
        site = facts.symbols.calls[number]
        given = argument_of(site.node, argument.name, argument.place)
        yield None if given is None else Definition(given, site.scope, path)  # None: it is left out, or hidden


def _calls_beyond(facts: FileFacts) -> dict[str, list[int]]:
    """The calls of what other files define, by its name and their place in the file."""
    called = (symbols_called(facts, site.node.func, site.scope) for site in facts.symbols.calls)
    return grouped((plain(symbol), number) for number, symbols in enumerate(called) for symbol in symbols)
