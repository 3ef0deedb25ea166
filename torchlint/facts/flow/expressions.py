"""One step of a value: from an expression to what stands around it, and what a call makes of an argument."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from torchlint.catalogue.load import load_containers
from torchlint.facts.calls import Target, Way, targets
from torchlint.facts.classes import base_names, dataclass_fields, own_class
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.values import EACH, Exit, Field, Given, Item, Kept, Move, Returned, Stored, Value
from torchlint.facts.functions import own_scope
from torchlint.facts.memoizing import memoized
from torchlint.facts.notation import is_in, is_of_project, result_of
from torchlint.facts.scopes import ScopeKind
from torchlint.facts.tree import is_super
from torchlint.facts.values import arguments_of, handed_arguments, handed_function, starter_of


def steps(facts: FileFacts, value: Value) -> Iterable[Move]:
    """What the expression or statement around a value makes of it, as far as that is the same for all values."""
    above = facts.index.parents.get(value.node)
    step = _STEPS.get(above.__class__)
    return step(facts, value, above) if step is not None else ()


def _same(_: FileFacts, value: Value, above: ast.expr) -> Iterator[Move]:
    if getattr(above, "test", None) is not value.node:
        yield value.at(above)


def _walrus(_: FileFacts, value: Value, above: ast.NamedExpr) -> Iterator[Move]:
    yield Kept(above.target, value)
    yield value.at(above)


def _operator(_: FileFacts, value: Value, above: ast.BinOp) -> Iterator[Move]:
    if value.path and isinstance(above.op, (ast.Add, ast.BitOr)):
        yield value.moved(above)


def _attribute(facts: FileFacts, value: Value, above: ast.Attribute) -> Iterator[Move]:
    yield from (one.at(above) for one in value.taken(Field(above.attr)))
    call = facts.index.parents.get(above)
    if not isinstance(call, ast.Call) or call.func is not above or not value.path:
        return
    if above.attr in load_containers().taking:
        key = Item.at(call.args[0]) if call.args else EACH
        yield from (one.at(call) for one in value.taken(key))
    elif above.attr in load_containers().keeping:
        yield value.moved(call)
    elif above.attr == "items":
        for one in value.taken(EACH):
            yield from (outer for pair in one.inside(Item(1), call) for outer in pair.inside(EACH, call))


def _subscript(_: FileFacts, value: Value, above: ast.Subscript) -> Iterator[Move]:
    if above.value is not value.node or not isinstance(above.ctx, ast.Load):
        return
    if isinstance(above.slice, ast.Slice):
        if value.path:
            yield value.moved(above)
    else:
        yield from (one.at(above) for one in value.taken(Item.at(above.slice)))


def _display(facts: FileFacts, value: Value, above: ast.List | ast.Tuple | ast.Set) -> Iterator[Move]:
    place = _places_in(facts, above).get(value.node, EACH)
    yield from [value.moved(above)] if isinstance(value.node, ast.Starred) else value.inside(place, above)


@memoized
def _places_in(facts: FileFacts, display: ast.List | ast.Tuple | ast.Set) -> Mapping[ast.AST, Item]:  # noqa: ARG001
    """The place of each element, where it is known."""
    if isinstance(display, ast.Set) or any(isinstance(one, ast.Starred) for one in display.elts):
        return {}
    return {element: Item(place) for place, element in enumerate(display.elts)}


def _mapping(facts: FileFacts, value: Value, above: ast.Dict) -> Iterator[Move]:
    key = _keys_in(facts, above).get(value.node, value.node)
    if key is None:  # `**options`
        yield value.at(above)
    elif key is not value.node:
        yield from value.inside(Item.at(key), above)


@memoized
def _keys_in(facts: FileFacts, display: ast.Dict) -> Mapping[ast.AST, ast.expr | None]:  # noqa: ARG001
    """The key of each value."""
    return dict(zip(display.values, display.keys, strict=True))


def _element(_: FileFacts, value: Value, above: ast.expr) -> Iterator[Move]:
    if getattr(above, "key", None) is not value.node:
        yield from value.inside(EACH, above)


def _gone_through(_: FileFacts, value: Value, above: ast.For | ast.AsyncFor | ast.comprehension) -> Iterator[Move]:
    if above.iter is value.node:
        yield from (Kept(above.target, one) for one in value.each())


def _entered(_: FileFacts, value: Value, above: ast.withitem) -> Iterator[Move]:
    if above.optional_vars is not None:
        yield Kept(above.optional_vars, value)


def _assigned(_: FileFacts, value: Value, above: ast.Assign | ast.AnnAssign) -> Iterator[Move]:
    if above.value is value.node:
        targets = above.targets if isinstance(above, ast.Assign) else [above.target]
        yield from (Kept(target, value) for target in targets)


def _added(_: FileFacts, value: Value, above: ast.AugAssign) -> Iterator[Move]:
    if above.value is value.node and isinstance(above.op, (ast.Add, ast.BitOr)):
        yield Kept(above.target, value.moved(value.node), in_place=True)


def _yielded(facts: FileFacts, value: Value, above: ast.Yield) -> Iterator[Move]:
    yield from (move for one in value.inside(EACH, value.node) for move in left(facts, one, above))


def left(facts: FileFacts, value: Value, place: ast.AST) -> Iterator[Returned]:
    """What leaves the function around a place."""
    function = facts.function_of(facts.index.scope_of(place))
    if function is not None:
        yield Returned(function, value)


def _lambda(facts: FileFacts, value: Value, above: ast.Lambda) -> Iterator[Move]:
    yield Returned(facts.index.inner_scopes[above].index, value)


def _argument(facts: FileFacts, value: Value, above: ast.Call | ast.keyword) -> Iterator[Move]:
    call = facts.index.parents[above] if isinstance(above, ast.keyword) else above
    if not isinstance(call, ast.Call) or call.func is value.node:
        return
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
    if parameter is None and target.way is Way.STARTED and isinstance(value.node, (ast.Tuple, ast.List)):
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
        inner = value.taken(EACH) if isinstance(value.node, (ast.Tuple, ast.List)) else [value]
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
    elements = value.node.elts if isinstance(value.node, (ast.Tuple, ast.List)) else []
    return any(one is argument and bool(value.taken(Item(place))) for place, one in enumerate(elements))


def symbols_called(facts: FileFacts, function: ast.expr, scope: int) -> list[str]:
    """The functions and classes of other files that a call runs."""
    owner = facts.class_of(scope)
    names = facts.names(function, scope).names
    if isinstance(function, ast.Attribute) and is_super(function.value):
        bases = base_names(facts, owner) if owner is not None else []
        names = frozenset(
            base if function.attr == "__init__" else f"{result_of(base)}.{function.attr}" for base in bases
        )
    names = names or frozenset(filter(None, [own_class(facts, function, scope)]))
    own = own_scope(facts, next(iter(names))) if len(names) == 1 else None
    if own is not None and facts.symbols.scopes[own].kind is ScopeKind.CLASS:  # its constructor is a base's
        names = frozenset(base_names(facts, own))
    return sorted(name for name in names if is_of_project(name) and not is_in(name, facts.path))


_STEPS: dict[type[ast.AST | None], Callable[[FileFacts, Value, Any], Iterator[Move]]] = {
    **dict.fromkeys((ast.Await, ast.BoolOp, ast.Starred, ast.IfExp), _same),
    ast.NamedExpr: _walrus,
    ast.BinOp: _operator,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    **dict.fromkeys((ast.List, ast.Tuple, ast.Set), _display),
    ast.Dict: _mapping,
    **dict.fromkeys((ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp), _element),
    **dict.fromkeys((ast.comprehension, ast.For, ast.AsyncFor), _gone_through),
    ast.withitem: _entered,
    **dict.fromkeys((ast.Assign, ast.AnnAssign), _assigned),
    ast.AugAssign: _added,
    **dict.fromkeys((ast.Return, ast.YieldFrom), left),
    ast.Yield: _yielded,
    ast.Lambda: _lambda,
    **dict.fromkeys((ast.keyword, ast.Call), _argument),
}
