"""How many dimensions a tensor evidently has. None, or no number at all, is an honest answer."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from torchlint.catalogue.load import load_values
from torchlint.catalogue.values import Kind
from torchlint.facts.definitions import is_none, step_back
from torchlint.facts.ends import Definition, End, Through
from torchlint.facts.memoizing import memoized
from torchlint.facts.scopes import Variable
from torchlint.facts.tensors.kinds import kind_of
from torchlint.facts.tensors.methods import method_named, operation_named
from torchlint.facts.tensors.operands import Part, called_name, operand, part_of_result, picked_result
from torchlint.facts.tensors.ranks_of_layers import in_modes, layers_called, through_layers
from torchlint.facts.tree import index_parts, is_ellipsis, is_literal_none, is_method_call, last_word
from torchlint.facts.values import argument_of

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_PLANES = re.compile(r"(?:^|_)(?:masks?|seg(?:mentation)?s?|seg(?:mentation)?_?(?:maps?|masks?|labels?)|label_?maps?)$")
Ranks = frozenset[int]
UNKNOWN: Ranks = frozenset()
_SWAPPING = frozenset({"transpose", "transpose_", "swapaxes", "swapdims"})
_MOST = 5
"""Dimensions of a batch of volumes, with channels."""


def rank_of(facts: FileFacts, expression: ast.expr | None, scope: int) -> int | None:
    """The one number of dimensions that a tensor evidently has."""
    found = ranks_of(facts, expression, scope)
    return next(iter(found)) if len(found) == 1 else None


@memoized
def ranks_of(facts: FileFacts, expression: ast.expr | None, scope: int, depth: int = 10) -> Ranks:
    """The numbers of dimensions a tensor may have, by how it is made or how its shape is unpacked; empty: unknown.

    What a `Conv2d` returns has 4, or 3 for a single image: that is enough to know that it has 3 and more.
    """
    if expression is None or depth == 0:
        return UNKNOWN
    steps = step_back(facts, Definition(expression, scope), Through.CHANGES | Through.RESULTS)
    if steps is not None:
        found = _all_of(_of_step(facts, one, depth) for one in steps if not is_none(one))
        return found or (_unpacked_ranks(facts, expression, scope) if isinstance(expression, ast.Name) else UNKNOWN)
    if isinstance(expression, ast.UnaryOp):
        return ranks_of(facts, expression.operand, scope, depth - 1)
    if isinstance(expression, ast.BinOp):
        return _of_operation(facts, expression, scope, depth)
    if isinstance(expression, ast.Compare):
        return ranks_of(facts, expression.left, scope, depth - 1)
    if isinstance(expression, ast.Call):
        return _of_call(facts, expression, scope, depth)
    part = part_of_result(facts, expression, scope)
    if part is not None:
        return _of_part(facts, part, depth)
    return _of_subscript(facts, expression, scope, depth) if isinstance(expression, ast.Subscript) else UNKNOWN


def is_named_for_planes(expression: ast.expr | None) -> bool:
    """`masks`, `batch["mask"].long()`: a value for each pixel of an image."""
    while is_method_call(expression):
        if not method_named(expression.func.attr).copies and expression.func.attr != "squeeze":
            return False
        expression = expression.func.value
    if isinstance(expression, ast.Subscript) and isinstance(expression.slice, ast.Constant):
        name = expression.slice.value
    else:
        name = last_word(expression)
    return isinstance(name, str) and _PLANES.search(name.lower()) is not None


def _all_of(options: Iterable[Ranks]) -> Ranks:
    """What any of the options allows, where all of them are known."""
    known = list(options)
    return frozenset().union(*known) if all(known) else UNKNOWN


def _of_step(facts: FileFacts, one: End, depth: int) -> Ranks:
    if not isinstance(one, Definition):
        return UNKNOWN
    if not one.parts:
        return ranks_of(facts, one.node, one.scope, depth - 1)
    part = picked_result(one)
    return UNKNOWN if part is None else _of_part(facts, part, depth)


def _of_part(facts: FileFacts, part: Part, depth: int) -> Ranks:
    """One of the results of `x.sort()` or `x.chunk(2)`: each has as many dimensions as `x`."""
    called = operation_named(called_name(facts, part.call, part.scope))
    if called.results not in ("pair", "parts") or called.shape != "rank":
        return UNKNOWN
    return ranks_of(facts, operand(facts, part.call, part.scope), part.scope, depth - 1)


def _unpacked_ranks(facts: FileFacts, name: ast.Name, scope: int) -> Ranks:
    """`b, c, h, w = x.shape` says that `x` has four dimensions, where `x` is bound once."""
    is_bound_once = len(facts.bindings(name, scope)) == 1
    found = facts.cached(_shape_unpackings).get(facts.variable(name, scope)) if is_bound_once else None
    return UNKNOWN if found is None else frozenset({found})


def _shape_unpackings(facts: FileFacts) -> dict[Variable | None, int]:
    found: dict[Variable | None, int] = {}
    for site in facts.symbols.assign_sites:
        node = site.node
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Tuple):
            continue
        target = node.targets[0]
        tensor = _whose_shape(node.value)
        if not isinstance(tensor, ast.Name) or any(isinstance(element, ast.Starred) for element in target.elts):
            continue
        found[facts.variable(tensor, site.scope)] = len(target.elts)
    return found


def _whose_shape(value: ast.expr) -> ast.expr | None:
    """`x` for `x.shape` and `x.size()`."""
    if is_method_call(value):
        is_whole = value.func.attr == "size" and not value.args and not value.keywords
        return value.func.value if is_whole else None
    return value.value if isinstance(value, ast.Attribute) and value.attr == "shape" else None


def _of_operation(facts: FileFacts, expression: ast.BinOp, scope: int, depth: int) -> Ranks:
    left, right = (ranks_of(facts, side, scope, depth - 1) for side in (expression.left, expression.right))
    if isinstance(expression.op, ast.MatMult):
        return left if left == right and 1 not in left else UNKNOWN
    if left and right:
        return frozenset(max(one, other) for one in left for other in right)
    other = expression.right if left else expression.left
    return (left or right) if _is_number(facts, other, scope) else UNKNOWN


def _is_number(facts: FileFacts, expression: ast.expr, scope: int) -> bool:
    return facts.value(expression, scope).is_known or kind_of(facts, expression, scope) is Kind.NUMBER


def _of_subscript(facts: FileFacts, expression: ast.Subscript, scope: int, depth: int) -> Ranks:
    added = 0
    for part in index_parts(expression):
        if is_literal_none(part):
            added += 1
        elif isinstance(part, ast.UnaryOp) or (isinstance(part, ast.Constant) and isinstance(part.value, int)):
            added -= 1
        elif not isinstance(part, ast.Slice) and not is_ellipsis(part):
            return UNKNOWN
    return _moved(ranks_of(facts, expression.value, scope, depth - 1), added)


def _moved(ranks: Ranks, by: int) -> Ranks:
    """Each number and `by`; those that would be below zero are not what the code means."""
    return frozenset(rank + by for rank in ranks if rank + by >= 0)


def _of_call(facts: FileFacts, call: ast.Call, scope: int, depth: int) -> Ranks:
    layers = layers_called(facts, call.func, scope)
    if layers:
        given = ranks_of(facts, call.args[0], scope, depth - 1) if call.args else UNKNOWN
        return _all_of(through_layers(facts, [layer], given) for layer in layers)
    name = called_name(facts, call, scope)
    return UNKNOWN if name is None else _of_named(facts, call, name, scope, depth)


def _of_named(facts: FileFacts, call: ast.Call, name: str, scope: int, depth: int) -> Ranks:
    """What a function of torch or a method of a tensor returns."""
    called = operation_named(name)
    if called.shape == "line":
        return frozenset({1})
    if name == "randint":  # low and high before the sizes, or high alone
        sizes = next((a for a in call.args if isinstance(a, ast.Tuple | ast.List)), argument_of(call, "size", None))
        return frozenset({len(sizes.elts)}) if isinstance(sizes, ast.Tuple | ast.List) else UNKNOWN
    if called.shape == "given" or name == "permute":
        return _of_sizes(facts, call, name, scope, depth)
    if name in ("tensor", "as_tensor") and call.args:
        return _depth_of_display(call.args[0])
    inner = operand(facts, call, scope)
    ranks = ranks_of(facts, inner, scope, depth - 1)
    taken = _taken_by(facts, call, scope)
    if taken:
        return (ranks & taken) or taken
    is_function = inner is not None and inner in call.args
    own = call.args[1:] if is_function else call.args
    if name == "flatten" and not own and not call.keywords:
        return frozenset({1})
    if called.shape in ("same", "rank") and not called.results:
        return ranks or _swapped(name, own)
    if name in ("unsqueeze", "unsqueeze_", "one_hot", "stack"):
        return _moved(ranks, 1)
    return _reduced(facts, call, name, own, ranks, scope)


def _swapped(name: str, axes: list[ast.expr]) -> Ranks:
    """What `x.transpose(1, 2)` says of `x`, of which nothing else is known: it has an axis 2."""
    places = [one.value for one in axes if isinstance(one, ast.Constant) and isinstance(one.value, int)]
    if name not in _SWAPPING or len(places) != len(axes) or not places:
        return UNKNOWN
    return frozenset(range(max(places) + 1, _MOST + 1))


def _taken_by(facts: FileFacts, call: ast.Call, scope: int) -> Ranks:
    """The numbers of dimensions that a function of `torch.nn.functional` takes and returns; empty for others."""
    home, _, name = (facts.names(call.func, scope).only or "").rpartition(".")
    if home not in ("torch.nn.functional", "torch"):
        return UNKNOWN
    if name not in ("interpolate", "upsample"):
        return load_values().functions.get(name, UNKNOWN)
    return in_modes(facts.value(argument_of(call, "mode", 3), scope))


def _reduced(facts: FileFacts, call: ast.Call, name: str, own: list[ast.expr], ranks: Ranks, scope: int) -> Ranks:
    """What is left of the dimensions after `sum(1)`, `squeeze(-1)` or `select(0, i)`."""
    if name == "select":
        return _moved(ranks, -1)
    dimension = own[0] if own else argument_of(call, "dim", None)
    is_reduced = operation_named(name).shape == "reduced"
    if not (is_reduced or name == "squeeze") or dimension is None:
        is_whole = is_reduced and not own and not call.keywords
        return frozenset({0}) if is_whole and ranks else UNKNOWN
    keeps = argument_of(call, "keepdim", None) or (own[1] if len(own) > 1 else None)
    if keeps is not None and facts.value(keeps, scope).constants != (False,):
        return ranks if facts.value(keeps, scope).constants == (True,) else UNKNOWN
    return _moved(ranks, -len(dimension.elts) if isinstance(dimension, ast.Tuple | ast.List) else -1)


def _of_sizes(facts: FileFacts, call: ast.Call, name: str, scope: int, depth: int) -> Ranks:
    is_function = operand(facts, call, scope) in call.args
    sizes = call.args[1:] if is_function and operation_named(name).values != "fresh" else call.args
    if not sizes or any(isinstance(size, ast.Starred) for size in sizes):
        return UNKNOWN
    first = sizes[0]
    if isinstance(first, ast.Tuple | ast.List):
        return UNKNOWN if any(isinstance(e, ast.Starred) for e in first.elts) else frozenset({len(first.elts)})
    if len(sizes) > 1 or isinstance(first, ast.UnaryOp) or _is_number(facts, first, scope):
        return frozenset({len(sizes)})
    return ranks_of(facts, _whose_shape(first), scope, depth - 1)  # any other one name may hold a whole shape


def _depth_of_display(display: ast.expr) -> Ranks:
    depth = 0
    while isinstance(display, ast.List | ast.Tuple) and display.elts:
        depth += 1
        display = display.elts[0]
    return frozenset({depth}) if isinstance(display, ast.Constant | ast.UnaryOp) and depth else UNKNOWN
