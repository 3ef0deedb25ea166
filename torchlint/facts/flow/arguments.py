"""What a call makes of an argument: a parameter takes it, a container keeps it, the result holds it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.catalogue.load import load_containers
from torchlint.facts.calls import Target, Way, targets
from torchlint.facts.classes import base_names, dataclass_fields, own_class
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.values import EACH, Exit, Field, Given, Item, Kept, Move, Stored, Value
from torchlint.facts.functions import own_scope
from torchlint.facts.scopes import ScopeKind
from torchlint.facts.tree import is_super
from torchlint.facts.values import arguments_of, handed_arguments, handed_function, starter_of


def steps(facts: FileFacts, value: Value, call: ast.Call) -> Iterator[Move]:
    """What a call makes of one of its arguments."""
    scope = facts.index.inner_scope_of(call)
    run = targets(facts, call, scope)
    if run:
        yield from (move for target in run for move in _given(value, call, target))
        return
    name = facts.names(call.func, scope).only or own_class(facts, call.func, scope)
    yield from _put(value, call)
    yield from _passed(value, call, name)
    yield from _kept_by_object(facts, value, call, name)
    yield from _handed_out(facts, value, call, scope)


def _given(value: Value, call: ast.Call, target: Target) -> Iterator[Move]:
    parameter, inner = target.parameter_of(value.node), [value]
    if parameter is None and target.way is Way.STARTED and isinstance(value.node, ast.Tuple | ast.List):
        parts = [one for index, one in enumerate(value.node.elts) if value.taken(Item(index))]
        parameter = target.parameter_of(parts[0]) if len(parts) == 1 else None
        inner = value.taken(EACH)
    if parameter is not None:
        entered = (one for given in inner for one in given.entering(call))
        yield from (Given(target.function.index, parameter, one) for one in entered)


def _put(value: Value, call: ast.Call) -> Iterator[Move]:
    """`parts.append(x)`, `parts.extend(xs)`."""
    if not isinstance(call.func, ast.Attribute):
        return
    place = load_containers().adding.get(call.func.attr)
    if place is not None and place < len(call.args) and call.args[place] is value.node:
        yield from (Kept(call.func.value, one, in_place=True) for one in value.inside(EACH, value.node))
    elif call.func.attr in load_containers().extending and value.node in call.args:
        yield Kept(call.func.value, value.moved(value.node), in_place=True)


def _passed(value: Value, call: ast.Call, name: str) -> Iterator[Move]:
    """`list(x)`, `enumerate(x)`, `next(x)`."""
    place = call.args.index(value.node) if value.node in call.args else None
    if place is None or not value.path:
        return
    if is_flattened(call, name):
        yield from (one.at(call) for one in value.each())
    elif name in load_containers().passing:
        yield value.moved(call)
    elif name == "builtins.next":
        yield from (one.at(call) for one in value.each())
    elif name in ("builtins.enumerate", "builtins.zip"):
        part = Item(place if name == "builtins.zip" else 1)
        for one in value.each():
            yield from (outer for pair in one.inside(part, call) for outer in pair.inside(EACH, call))


def is_flattened(call: ast.Call, name: str) -> bool:
    """Whether a call gives the entries of the entries: `chain(*parts)`, `sum(parts, [])`."""
    if name == "itertools.chain":
        return isinstance(call.args[0], ast.Starred)
    is_joined = name == "builtins.sum" and len(call.args) > 1 and isinstance(call.args[1], ast.List)
    return is_joined or name in load_containers().flattening


def _kept_by_object(facts: FileFacts, value: Value, call: ast.Call, name: str) -> Iterator[Move]:
    """`dict(names=x)`, `SimpleNamespace(names=x)`, and what a dataclass makes of its arguments."""
    keyword = next((one.arg for one in call.keywords if one.value is value.node), None)
    if keyword is not None and name in load_containers().mappings:
        yield from value.inside(Item(keyword), call)
    if keyword is not None and name in load_containers().objects:
        yield from value.inside(Field(keyword), call)
    owner, fields = own_scope(facts, name), dataclass_fields(facts, name)
    if owner is not None and fields:
        place = call.args.index(value.node) if value.node in call.args else len(fields)
        for field in [keyword] if keyword is not None else fields[place : place + 1]:
            yield from (Stored(owner, field, one) for one in value.entering(call))


def _handed_out(facts: FileFacts, value: Value, call: ast.Call, scope: int) -> Iterator[Move]:
    """An argument of a function or a class of another file; of `super().__init__`, whose base another file has."""
    function, inner, given = call.func, [value], arguments_of(call)
    starter = starter_of(facts, call, scope)
    if starter is not None:
        handed = handed_function(starter, call)
        function, given = call.func if handed is None else handed, handed_arguments(starter, call)
        inner = value.taken(EACH) if isinstance(value.node, ast.Tuple | ast.List) else [value]
    positional, keywords = given
    if any(isinstance(one, ast.Starred) for one in positional):
        return
    places: list[int | str] = [place for place, one in enumerate(positional) if one is not None and _holds(value, one)]
    places += [name for name, one in keywords if name is not None and one is value.node]
    for symbol in symbols_called(facts, function, scope) if places else ():
        yield from (Exit(symbol, places[0], one.path, one.label) for one in inner)


def _holds(value: Value, argument: ast.expr) -> bool:
    """Whether an argument is where a value lies: itself, or an element of the tuple that is spread."""
    if argument is value.node:
        return True
    elements = value.node.elts if isinstance(value.node, ast.Tuple | ast.List) else []
    return any(one is argument and bool(value.taken(Item(place))) for place, one in enumerate(elements))


def symbols_called(facts: FileFacts, function: ast.expr, scope: int) -> list[str]:
    """The functions and classes of other files that a call runs."""
    owner = facts.class_of(scope)
    names = facts.names(function, scope).names
    if isinstance(function, ast.Attribute) and is_super(function.value):
        bases = base_names(facts, owner) if owner is not None else []
        names = frozenset(base if function.attr == "__init__" else f"{base}().{function.attr}" for base in bases)
    names = names or frozenset(filter(None, [own_class(facts, function, scope)]))
    own = own_scope(facts, next(iter(names))) if len(names) == 1 else None
    if own is not None and facts.symbols.scopes[own].kind is ScopeKind.CLASS:  # its constructor is a base's
        names = frozenset(base_names(facts, own))
    return sorted(name for name in names if "::" in name and not name.startswith(f"{facts.path}::"))
