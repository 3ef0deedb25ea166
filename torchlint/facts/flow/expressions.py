"""One step of a value: from an expression to what stands around it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from torchlint.catalogue.load import load_containers
from torchlint.facts.file import FileFacts
from torchlint.facts.flow import arguments
from torchlint.facts.flow.values import EACH, Field, Item, Kept, Move, Returned, Value
from torchlint.facts.memoizing import memoized


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
    if value.path and isinstance(above.op, ast.Add | ast.BitOr):
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
    if above.value is value.node and isinstance(above.op, ast.Add | ast.BitOr):
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
    if isinstance(call, ast.Call) and call.func is not value.node:
        yield from arguments.steps(facts, value, call)


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
