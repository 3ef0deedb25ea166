"""Views whose elements evidently share memory: expanded dimensions, and windows that overlap."""

from __future__ import annotations

import ast
from collections.abc import Sequence

import msgspec

from torchlint.facts.constants import sizes_of
from torchlint.facts.definitions import only_end
from torchlint.facts.ends import Definition
from torchlint.facts.file import FileFacts
from torchlint.facts.tensors.methods import method_named
from torchlint.facts.tensors.operands import operand
from torchlint.facts.tensors.sizes import UnitDims, unit_dims_of
from torchlint.facts.values import argument_of

_SAME = frozenset({"T", "mT", "data"})
_DEPTH = 8
_MAKING = (".expand", "broadcast_to", ".unfold(")


class SharedView(msgspec.Struct, frozen=True):
    """A view in which several elements are one place in memory.

    `shared` are the dimensions along which they are, where that is known: from the left, or from the right (negative).
    """

    maker: ast.Call
    is_expanded: bool
    """A stride of zero, which torch notices; it does not notice overlapping windows."""
    shared: frozenset[int] | None
    rank: int | None = None


def shared_view(facts: FileFacts, expression: ast.expr, scope: int, depth: int = _DEPTH) -> SharedView | None:
    """The view that an expression is, where its elements evidently share memory."""
    end = only_end(facts, expression, scope) if depth else None
    if not isinstance(end, Definition):
        return None
    value, scope = end.node, end.scope
    if end.parts:
        return None
    if isinstance(value, ast.Attribute):
        inner = shared_view(facts, value.value, scope, depth - 1) if value.attr in _SAME else None
        return _rearranged(inner) if value.attr != "data" else inner
    return _of_call(facts, value, scope, depth) if isinstance(value, ast.Call) else None


def _rearranged(view: SharedView | None) -> SharedView | None:
    return SharedView(view.maker, view.is_expanded, None) if view is not None else None


def _of_call(facts: FileFacts, call: ast.Call, scope: int, depth: int) -> SharedView | None:
    name = _view_method(facts, call, scope)
    called = method_named(name)
    if called.rearranges and called.memory == "shared" and called.shape != "given":
        inner = operand(facts, call, scope)
        view = shared_view(facts, inner, scope, depth - 1) if inner is not None else None
        return view if called.shape == "same" else _rearranged(view)
    if name in ("expand", "expand_as", "broadcast_to"):
        return _expanded(facts, call, name, scope)
    return _unfolded(facts, call, scope) if name == "unfold" and isinstance(call.func, ast.Attribute) else None


def _view_method(facts: FileFacts, call: ast.Call, scope: int) -> str | None:
    """`expand` for `x.expand(...)`, `broadcast_to` for `torch.broadcast_to(x, ...)`; `F.unfold` copies."""
    name = facts.names(call.func, scope).only
    if name is None or name.startswith("torch.Tensor."):
        return call.func.attr if isinstance(call.func, ast.Attribute) else None
    home, _, short = name.rpartition(".")
    is_method = isinstance(call.func, ast.Attribute) and "()" in home
    return short if home == "torch" or is_method else None


# -- expanded ------------------------------------------------------------------------------------


def _expanded(facts: FileFacts, call: ast.Call, name: str, scope: int) -> SharedView | None:
    source = operand(facts, call, scope)
    ones = unit_dims_of(facts, source, scope)
    own = call.args[1:] if source in call.args else call.args
    sizes: Sequence[ast.expr] | None = own
    if len(own) == 1 and isinstance(own[0], ast.Tuple | ast.List):
        sizes = own[0].elts
    elif name != "expand" or (len(own) == 1 and ones.rank != 0 and not _is_number(facts, own[0], scope)):
        sizes = None  # the shape of another tensor, or one that a name holds
    if sizes is None:
        places = ones.places - _ones_of_shape(facts, own[0], scope) if own else frozenset()
        return SharedView(call, is_expanded=True, shared=places) if places else None
    shared = _growing(facts, ones, sizes, scope)
    rank = None if any(isinstance(size, ast.Starred) for size in sizes) else len(sizes)
    return SharedView(call, is_expanded=True, shared=shared, rank=rank) if shared else None


def _ones_of_shape(facts: FileFacts, shape: ast.expr, scope: int) -> frozenset[int]:
    """Where the other tensor of `expand_as(x)` or `broadcast_to(y, x.shape)` has one element as well."""
    if isinstance(shape, ast.Starred):
        shape = shape.value
    if isinstance(shape, ast.Attribute) and shape.attr == "shape":
        shape = shape.value
    return unit_dims_of(facts, shape, scope).places


def _is_number(facts: FileFacts, expression: ast.expr, scope: int) -> bool:
    return isinstance(expression, ast.Constant | ast.UnaryOp) or facts.value(expression, scope).is_known


def _growing(facts: FileFacts, ones: UnitDims, sizes: Sequence[ast.expr], scope: int) -> frozenset[int]:
    """The places of `expand`'s sizes where one element becomes several, or a dimension is new."""
    star = next((index for index, size in enumerate(sizes) if isinstance(size, ast.Starred)), None)
    places = set()
    # Where the rank is known all are counted from the right, where the sizes are lined up.
    for place in (one - (ones.rank or 0) if one >= 0 else one for one in ones.places):
        if place < 0 and -place <= len(sizes) and (star is None or star < len(sizes) + place):
            places.add(place + len(sizes) if star is None else place)
        elif place >= 0 and (star is None or place < star) and place < len(sizes):
            places.add(place)
    if ones.rank is not None and star is None:
        places |= set(range(len(sizes) - ones.rank))
    return frozenset(place for place in places if _may_grow(facts, sizes[place], scope))


def _may_grow(facts: FileFacts, size: ast.expr, scope: int) -> bool:
    return not {1, -1} & set(facts.value(size, scope).constants)


# -- windows -------------------------------------------------------------------------------------


def _unfolded(facts: FileFacts, call: ast.Call, scope: int) -> SharedView | None:
    """`x.unfold(dimension, size, step)` with a step below the size."""
    given = [argument_of(call, name, index) for index, name in enumerate(("dimension", "size", "step"))]
    numbers = [sizes_of(facts, argument, scope) for argument in given]
    if not all(len(number) == 1 for number in numbers):
        return None
    (dimension,), (size,), (step,) = numbers
    return SharedView(call, is_expanded=False, shared=frozenset({dimension})) if step < size else None


def makes_views(facts: FileFacts) -> bool:
    """Whether the file makes any such view: a cheap answer before any is looked for."""
    return facts.source.mentions(*_MAKING)
