"""Views whose elements evidently share memory, by dimensions that surely have one element, or windows that overlap."""

from __future__ import annotations

import ast
from collections.abc import Sequence

import msgspec

from torchlint.facts.constants import sizes_of
from torchlint.facts.definitions import only_value
from torchlint.facts.file import FileFacts
from torchlint.facts.memoizing import followed
from torchlint.facts.notation import hangs_on_call
from torchlint.facts.tensors.methods import method_named, operation_named
from torchlint.facts.tensors.operands import beside_operand, called_name, made_by, operand
from torchlint.facts.tree import index_parts, is_ellipsis, is_literal_none
from torchlint.facts.values import argument_of

_FILLED = frozenset({"full", "new_full"})
"""The first argument is the shape."""


class UnitDims(msgspec.Struct, frozen=True):
    """Dimensions that surely have one element.

    `rank` is None when it is unknown: positions from the left and from the right are then kept as they were seen.
    """

    places: frozenset[int] = frozenset()
    """Positive from the left, negative from the right."""
    rank: int | None = None


UNKNOWN = UnitDims()


@followed(otherwise=UNKNOWN)
def unit_dims_of(facts: FileFacts, expression: ast.expr | None, scope: int) -> UnitDims:
    """Where a tensor evidently has one element along a dimension."""
    value, scope = only_value(facts, expression, scope)
    if isinstance(value, ast.Subscript):
        return _of_subscript(facts, value, scope)
    return _of_made(facts, value, scope) if isinstance(value, ast.Call) else UNKNOWN


def _of_subscript(facts: FileFacts, expression: ast.Subscript, scope: int) -> UnitDims:
    """`x[None]`, `x[:, None]`, `x[..., None]`, `x[:1]`, `x[0, 2:3]`."""
    parts = index_parts(expression)
    bare = (part.operand if isinstance(part, ast.UnaryOp) else part for part in parts)
    if not all(isinstance(part, (ast.Slice, ast.Constant)) for part in bare):
        return UNKNOWN
    inner = unit_dims_of(facts, expression.value, scope)
    taken = sum(isinstance(part, (ast.Constant, ast.UnaryOp)) and not _is_kept(part) for part in parts)
    rank = None if inner.rank is None else inner.rank + sum(map(is_literal_none, parts)) - taken
    kept = [part for part in parts if _is_kept(part)]
    dots = next((index for index, part in enumerate(kept) if is_ellipsis(part)), len(kept))
    ones = {index for index, part in enumerate(kept) if is_literal_none(part) or _is_one_long(facts, part, scope)}
    return UnitDims(frozenset(index if index < dots else index - len(kept) for index in ones), rank)


def _is_kept(part: ast.expr) -> bool:
    """Whether an index leaves a dimension, or stands for several."""
    return isinstance(part, ast.Slice) or is_literal_none(part) or is_ellipsis(part)


def _is_one_long(facts: FileFacts, part: ast.expr, scope: int) -> bool:
    """`:1`, `2:3`, `-1:`, `i:i + 1`."""
    if not isinstance(part, ast.Slice) or part.step is not None:
        return False
    lower, upper = part.lower, part.upper
    if lower is not None and isinstance(upper, ast.BinOp) and isinstance(upper.op, ast.Add):
        return ast.dump(upper.left) == ast.dump(lower) and facts.value(upper.right, scope).only(int) == 1
    start = 0 if lower is None else facts.value(lower, scope).only(int)
    end = 0 if upper is None else facts.value(upper, scope).only(int)
    if start is None or end is None:
        return False
    return end - start == 1 and (upper is None or (start >= 0) is (end >= 0)) and (lower is not None or end > 0)


def _of_made(facts: FileFacts, call: ast.Call, scope: int) -> UnitDims:
    name = called_name(facts, call, scope)
    inner = operand(facts, call, scope)
    called = operation_named(name)
    if called.shape == "line":
        return UnitDims(rank=1)
    if called.shape == "given" or name in _FILLED:
        takes_tensor = called.carries and inner in call.args  # `torch.reshape(x, (1, 3))`
        return _of_sizes(facts, call.args[1:] if takes_tensor else call.args, scope, only_first=name in _FILLED)
    if name in ("tensor", "as_tensor"):
        return _of_display(call.args[0]) if call.args else UNKNOWN
    if called.shape == "same" and not called.results:
        return unit_dims_of(facts, inner, scope)
    return _unsqueezed(facts, call, inner, scope) if name in ("unsqueeze", "unsqueeze_") else UNKNOWN


def _of_sizes(facts: FileFacts, sizes: Sequence[ast.expr], scope: int, *, only_first: bool) -> UnitDims:
    if sizes and isinstance(sizes[0], (ast.Tuple, ast.List)):
        sizes = sizes[0].elts
    elif only_first or not sizes or (len(sizes) == 1 and not isinstance(sizes[0], ast.Constant)):
        return UNKNOWN  # one name may hold a whole shape
    if any(isinstance(size, ast.Starred) for size in sizes):
        return UNKNOWN
    places = {index for index, size in enumerate(sizes) if facts.value(size, scope).only(int) == 1}
    return UnitDims(frozenset(places), len(sizes))


def _of_display(display: ast.expr) -> UnitDims:
    """`torch.tensor([[1.0], [2.0]])`, or a number, which has no dimension."""
    places, rank = set(), 0
    while isinstance(display, (ast.List, ast.Tuple)) and display.elts:
        if any(isinstance(element, ast.Starred) for element in display.elts):
            return UNKNOWN
        if len(display.elts) == 1:
            places.add(rank)
        rank += 1
        display = display.elts[0]
    is_number = isinstance(display, (ast.Constant, ast.UnaryOp))
    return UnitDims(frozenset(places), rank) if is_number else UNKNOWN


def _unsqueezed(facts: FileFacts, call: ast.Call, inner: ast.expr | None, scope: int) -> UnitDims:
    place = facts.value(beside_operand(facts, call, scope, "dim"), scope).only(int)
    before = unit_dims_of(facts, inner, scope)
    if place is None:
        return UNKNOWN
    if before.rank is None:
        return UnitDims(frozenset({place}))
    place = place + before.rank + 1 if place < 0 else place
    shifted = {(p + before.rank if p < 0 else p) for p in before.places}
    return UnitDims(frozenset({place, *(p + 1 if p >= place else p for p in shifted)}), before.rank + 1)


_MAKING = (".expand", "broadcast_to", "as_strided", ".unfold(")


class SharedView(msgspec.Struct, frozen=True):
    """A view in which several elements are one place in memory."""

    maker: ast.Call
    is_expanded: bool
    """A stride of zero, which torch notices; it does not notice overlapping windows."""


@followed(otherwise=None)
def shared_view(facts: FileFacts, expression: ast.expr, scope: int) -> SharedView | None:
    """The view that an expression is, where its elements evidently share memory."""
    call, scope = made_by(facts, expression, scope)
    if call is None:
        return None
    name, inner = _view_method(facts, call, scope), operand(facts, call, scope)
    called = method_named(name)
    if inner is not None and called.rearranges and called.memory == "shared" and called.shape == "same":
        return shared_view(facts, inner, scope)
    if name in ("expand", "expand_as", "broadcast_to"):
        return _expanded(facts, call, name, scope)
    if name == "as_strided":
        return _strided(facts, call, scope)
    if name != "unfold" or not isinstance(call.func, ast.Attribute):
        return None
    given = [argument_of(call, asked, index) for index, asked in enumerate(("dimension", "size", "step"))]
    numbers = [sizes_of(facts, argument, scope) for argument in given]
    if not all(len(number) == 1 for number in numbers):
        return None
    _, (size,), (step,) = numbers
    return SharedView(call, is_expanded=False) if step < size else None


def _view_method(facts: FileFacts, call: ast.Call, scope: int) -> str | None:
    """`expand` for `x.expand(...)`, `broadcast_to` for `torch.broadcast_to(x, ...)`; `F.unfold` copies."""
    name = facts.names(call.func, scope).only
    if name is None or name.startswith("torch.Tensor."):
        return call.func.attr if isinstance(call.func, ast.Attribute) else None
    home, _, short = name.rpartition(".")
    is_method = isinstance(call.func, ast.Attribute) and hangs_on_call(home)
    return short if home == "torch" or is_method else None


# -- expanded ------------------------------------------------------------------------------------


def _expanded(facts: FileFacts, call: ast.Call, name: str, scope: int) -> SharedView | None:
    source = operand(facts, call, scope)
    ones = unit_dims_of(facts, source, scope)
    own = call.args[1:] if source in call.args else call.args
    sizes: Sequence[ast.expr] | None = own
    is_one = len(own) == 1 and ones.rank != 0 and not isinstance(own[0], (ast.Constant, ast.UnaryOp))
    if len(own) == 1 and isinstance(own[0], (ast.Tuple, ast.List)):
        sizes = own[0].elts
    elif name != "expand" or (is_one and not facts.value(own[0], scope).is_known):
        sizes = None  # the shape of another tensor, or one that a name holds
    if sizes is None:
        places = ones.places - _ones_of_shape(facts, own[0], scope) if own else frozenset()
        return SharedView(call, is_expanded=True) if places else None
    return SharedView(call, is_expanded=True) if _growing(facts, ones, sizes, scope) else None


def _ones_of_shape(facts: FileFacts, shape: ast.expr, scope: int) -> frozenset[int]:
    """Where the other tensor of `expand_as(x)` or `broadcast_to(y, x.shape)` has one element as well."""
    if isinstance(shape, ast.Starred):
        shape = shape.value
    if isinstance(shape, ast.Attribute) and shape.attr == "shape":
        shape = shape.value
    return unit_dims_of(facts, shape, scope).places


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
    return frozenset(place for place in places if {1, -1}.isdisjoint(facts.value(sizes[place], scope).constants))


# -- windows -------------------------------------------------------------------------------------


def makes_views(facts: FileFacts) -> bool:
    """Whether the file makes any such view: a cheap answer before any is looked for."""
    return facts.source.mentions(*_MAKING)


def _strided(facts: FileFacts, call: ast.Call, scope: int) -> SharedView | None:
    """`x.as_strided(size, stride)` whose strides lead to one place twice."""
    size = beside_operand(facts, call, scope, "size")
    stride = beside_operand(facts, call, scope, "stride", 1)
    if not isinstance(size, (ast.Tuple, ast.List)) or not isinstance(stride, (ast.Tuple, ast.List)):
        return None
    pairs = list(zip(size.elts, stride.elts, strict=False))
    if len(size.elts) != len(stride.elts) or any(isinstance(e, ast.Starred) for pair in pairs for e in pair):
        return None
    pairs = [pair for pair in pairs if {1, -1}.isdisjoint(facts.value(pair[0], scope).constants)]
    if any(facts.value(step, scope).constants == (0,) for _, step in pairs):
        return SharedView(call, is_expanded=True)
    strides = {facts.value(step, scope).text or ast.dump(step) for _, step in pairs}
    is_shared = len(strides) < len(pairs) or _meets(facts, pairs, scope)  # `(s, s)`, or `(1, 1)`
    return SharedView(call, is_expanded=False) if is_shared else None


def _meets(facts: FileFacts, pairs: Sequence[tuple[ast.expr, ast.expr]], scope: int) -> bool:
    """Whether a known stride falls into what shorter ones reach: `(7, 4)` by `(2, 1)`."""
    known = [(sizes_of(facts, step, scope), sizes_of(facts, size, scope)) for size, step in pairs]
    if not all(len(step) == 1 and len(size) == 1 for step, size in known):
        return False
    reach = 0
    for (step,), (size,) in sorted(known):
        if step <= reach:
            return True
        reach += step * (size - 1)
    return False
