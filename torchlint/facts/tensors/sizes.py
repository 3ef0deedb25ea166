"""The sizes of a tensor, as far as they are evident: which dimensions surely have one element."""

from __future__ import annotations

import ast
from collections.abc import Sequence

import msgspec

from torchlint.facts.definitions import only_value
from torchlint.facts.file import FileFacts
from torchlint.facts.tensors.methods import operation_named
from torchlint.facts.tensors.operands import beside_operand, called_name, operand
from torchlint.facts.tree import index_parts, is_ellipsis, is_literal_none
from torchlint.facts.values import argument_of

_FILLED = frozenset({"full", "new_full"})
"""The first argument is the shape."""
_ALSO_REDUCING = frozenset({"std", "var", "norm"})
"""Their second argument is not `keepdim`, as that of other reductions is."""
_DEPTH = 8


class UnitDims(msgspec.Struct, frozen=True):
    """Dimensions that surely have one element.

    `rank` is None when it is unknown: positions from the left and from the right are then kept as they were seen.
    """

    places: frozenset[int] = frozenset()
    """Positive from the left, negative from the right."""
    rank: int | None = None


UNKNOWN = UnitDims()


def unit_dims_of(facts: FileFacts, expression: ast.expr | None, scope: int, depth: int = _DEPTH) -> UnitDims:
    """Where a tensor evidently has one element along a dimension."""
    value, scope = only_value(facts, expression, scope) if depth else (None, scope)
    if isinstance(value, ast.Subscript):
        return _of_subscript(facts, value, scope, depth)
    return _of_call(facts, value, scope, depth) if isinstance(value, ast.Call) else UNKNOWN


def _of_subscript(facts: FileFacts, expression: ast.Subscript, scope: int, depth: int) -> UnitDims:
    """`x[None]`, `x[:, None]`, `x[..., None]`, `x[:1]`, `x[0, 2:3]`."""
    parts = index_parts(expression)
    if not all(is_literal_none(part) or isinstance(part, ast.Slice) or _takes_one(part) for part in parts):
        return UNKNOWN
    inner = unit_dims_of(facts, expression.value, scope, depth - 1)
    taken = sum(isinstance(part, ast.Constant | ast.UnaryOp) and not _is_kept(part) for part in parts)
    rank = None if inner.rank is None else inner.rank + sum(map(is_literal_none, parts)) - taken
    kept = [part for part in parts if _is_kept(part)]
    dots = next((index for index, part in enumerate(kept) if is_ellipsis(part)), len(kept))
    ones = {index for index, part in enumerate(kept) if is_literal_none(part) or _is_one_long(facts, part, scope)}
    return UnitDims(frozenset(index if index < dots else index - len(kept) for index in ones), rank)


def _takes_one(part: ast.expr) -> bool:
    """A number, which takes the dimension away, or `...`."""
    return isinstance(part.operand if isinstance(part, ast.UnaryOp) else part, ast.Constant)


def _is_kept(part: ast.expr) -> bool:
    """Whether an index leaves a dimension, or stands for several."""
    return isinstance(part, ast.Slice) or is_literal_none(part) or is_ellipsis(part)


def _is_one_long(facts: FileFacts, part: ast.expr, scope: int) -> bool:
    """`:1`, `2:3`, `-1:`, `i:i + 1`."""
    if not isinstance(part, ast.Slice) or part.step is not None:
        return False
    lower, upper = part.lower, part.upper
    if lower is not None and isinstance(upper, ast.BinOp) and isinstance(upper.op, ast.Add):
        return ast.dump(upper.left) == ast.dump(lower) and _is_one(facts, upper.right, scope)
    start = 0 if lower is None else facts.value(lower, scope).only(int)
    end = 0 if upper is None else facts.value(upper, scope).only(int)
    if start is None or end is None:
        return False
    return end - start == 1 and (upper is None or (start >= 0) is (end >= 0)) and (lower is not None or end > 0)


def _of_call(facts: FileFacts, call: ast.Call, scope: int, depth: int) -> UnitDims:
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
        return unit_dims_of(facts, inner, scope, depth - 1)
    if name in ("unsqueeze", "unsqueeze_"):
        return _unsqueezed(facts, call, inner, scope, depth)
    is_reduced = called.shape == "reduced" or name in _ALSO_REDUCING
    return _reduced(facts, call, inner, scope, depth) if is_reduced else UNKNOWN


def _of_sizes(facts: FileFacts, sizes: Sequence[ast.expr], scope: int, *, only_first: bool) -> UnitDims:
    if sizes and isinstance(sizes[0], ast.Tuple | ast.List):
        sizes = sizes[0].elts
    elif only_first or not sizes or (len(sizes) == 1 and not isinstance(sizes[0], ast.Constant)):
        return UNKNOWN  # one name may hold a whole shape
    if any(isinstance(size, ast.Starred) for size in sizes):
        return UNKNOWN
    places = {index for index, size in enumerate(sizes) if _is_one(facts, size, scope)}
    return UnitDims(frozenset(places), len(sizes))


def _is_one(facts: FileFacts, size: ast.expr, scope: int) -> bool:
    return facts.value(size, scope).only(int) == 1


def _of_display(display: ast.expr) -> UnitDims:
    """`torch.tensor([[1.0], [2.0]])`, or a number, which has no dimension."""
    places, rank = set(), 0
    while isinstance(display, ast.List | ast.Tuple) and display.elts:
        if any(isinstance(element, ast.Starred) for element in display.elts):
            return UNKNOWN
        if len(display.elts) == 1:
            places.add(rank)
        rank += 1
        display = display.elts[0]
    is_number = isinstance(display, ast.Constant | ast.UnaryOp)
    return UnitDims(frozenset(places), rank) if is_number else UNKNOWN


def _unsqueezed(facts: FileFacts, call: ast.Call, inner: ast.expr | None, scope: int, depth: int) -> UnitDims:
    place = facts.value(beside_operand(facts, call, scope, "dim"), scope).only(int)
    before = unit_dims_of(facts, inner, scope, depth - 1)
    if place is None:
        return UNKNOWN
    if before.rank is None:
        return UnitDims(frozenset({place}))
    place = place + before.rank + 1 if place < 0 else place
    shifted = {(p + before.rank if p < 0 else p) for p in before.places}
    return UnitDims(frozenset({place, *(p + 1 if p >= place else p for p in shifted)}), before.rank + 1)


def _reduced(facts: FileFacts, call: ast.Call, inner: ast.expr | None, scope: int, depth: int) -> UnitDims:
    """`x.mean(1, keepdim=True)` leaves one element."""
    keepdim = argument_of(call, "keepdim", None)
    place = facts.value(beside_operand(facts, call, scope, "dim"), scope).only(int)
    if keepdim is None or facts.value(keepdim, scope).constants != (True,) or place is None:
        return UNKNOWN
    before = unit_dims_of(facts, inner, scope, depth - 1)
    return UnitDims(before.places | {place}, before.rank)
