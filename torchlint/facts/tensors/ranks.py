"""How many dimensions a tensor evidently has. None, or no number at all, is an honest answer."""

from __future__ import annotations

import ast
import re

from torchlint.catalogue.load import load_values
from torchlint.catalogue.values import Kind
from torchlint.facts.definitions import is_given_here, is_none, step_back
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.values import CALLED, Definition, End, Through
from torchlint.facts.grouping import all_of
from torchlint.facts.memoizing import followed
from torchlint.facts.origins import beyond
from torchlint.facts.scopes import Variable
from torchlint.facts.tensors.kinds import kind_of
from torchlint.facts.tensors.methods import method_named, operation_named
from torchlint.facts.tensors.operands import Part, called_name, operand, part_of_result, picked_result
from torchlint.facts.tensors.ranks_of_layers import Dimensions, are_maps_by_key, in_modes, layers_called, through_layers
from torchlint.facts.tree import index_parts, is_ellipsis, is_literal_none, is_method_call, last_word, literal_text
from torchlint.facts.values import argument_of

_PLANES = re.compile(r"(?:^|_)(?:masks?|seg(?:mentation)?s?|seg(?:mentation)?_?(?:maps?|masks?|labels?)|label_?maps?)$")
Ranks = frozenset[int]
UNKNOWN: Dimensions = frozenset()
_SWAPPING = frozenset({"transpose", "transpose_", "swapaxes", "swapdims"})
_MOST = 5
"""Dimensions of a batch of volumes, with channels."""
_OF_MAPS: Dimensions = frozenset({4})
_FOLLOWED = Through.CHANGES | Through.RESULTS | Through.PARAMETERS


def rank_of(facts: FileFacts, expression: ast.expr | None, scope: int) -> int | None:
    """The one number of dimensions that a tensor evidently has."""
    found = ranks_of(facts, expression, scope)
    return next(iter(found)) if len(found) == 1 else None


def ranks_of(facts: FileFacts, expression: ast.expr | None, scope: int) -> Ranks:
    """The numbers of dimensions a tensor may have, by how it is made or how its shape is unpacked; empty: unknown.

    What a `Conv2d` returns has 4, or 3 for a single image: that is enough to know that it has 3 and more.
    """
    return _counted(dimensions_of(facts, expression, scope)) or frozenset()


def dimensions_of(facts: FileFacts, expression: ast.expr | None, scope: int) -> Dimensions:
    """The same, with the tensors of other files that have as many."""
    return UNKNOWN if expression is None else dimensions_of_end(facts, Definition(expression, scope))


@followed(otherwise=UNKNOWN)
def dimensions_of_end(facts: FileFacts, one: End) -> Dimensions:
    if isinstance(one, Definition):
        part = picked_result(one) if one.parts else part_of_result(facts, one.node, one.scope)
        found = UNKNOWN if part is None else _of_part(facts, part)
        found = found or _of_steps(facts, one)
        if found:
            return found
    origin = beyond(facts, one)
    return UNKNOWN if origin is None else frozenset({origin})


def _of_steps(facts: FileFacts, one: Definition) -> Dimensions:
    """By what a value stands for; by what an expression makes, where it stands for nothing else."""
    for through in (_FOLLOWED, _FOLLOWED | Through.CONTENTS):
        steps = step_back(facts, one, through)
        if steps is None:
            found = _of_value(facts, one)
        else:
            told = (step for step in steps if not is_none(step) and not is_given_here(facts, step))
            found = all_of(dimensions_of_end(facts, step) for step in told)
            is_whole = isinstance(one.node, ast.Name) and not one.parts and not _counted(found)
            if is_whole and len(facts.bindings(one.node, one.scope)) == 1:
                unpacked = facts.cached(_shape_unpackings).get(facts.variable(one.node, one.scope))
                found = found if unpacked is None else frozenset({unpacked})
        if found:
            return found
    return UNKNOWN


def _of_value(facts: FileFacts, one: Definition) -> Dimensions:
    """By an expression that stands for nothing else."""
    expression, scope = one.node, one.scope
    if one.parts:
        is_layer = one.parts == (CALLED,) and isinstance(expression, ast.Call)
        return through_layers(facts, layers_called(facts, expression, scope), frozenset()) if is_layer else UNKNOWN
    if isinstance(expression, ast.UnaryOp):
        return dimensions_of(facts, expression.operand, scope)
    if isinstance(expression, ast.BinOp):
        return _of_operation(facts, expression, scope)
    if isinstance(expression, ast.Compare):
        return dimensions_of(facts, expression.left, scope)
    if not isinstance(expression, ast.Call):
        return _of_subscript(facts, expression, scope) if isinstance(expression, ast.Subscript) else UNKNOWN
    layers = layers_called(facts, expression.func, scope)
    if layers:
        given = dimensions_of(facts, expression.args[0], scope) if expression.args else UNKNOWN
        return all_of(through_layers(facts, [layer], given) for layer in layers)
    name = called_name(facts, expression, scope)
    return UNKNOWN if name is None else _of_named(facts, expression, name, scope)


def is_named_for_planes(expression: ast.expr | None) -> bool:
    """`masks`, `batch["mask"].long()`: a value for each pixel of an image."""
    while is_method_call(expression):
        if not method_named(expression.func.attr).copies and expression.func.attr != "squeeze":
            return False
        expression = expression.func.value
    name = literal_text(expression.slice) if isinstance(expression, ast.Subscript) else last_word(expression)
    return _PLANES.search(name.lower()) is not None


def _counted(found: Dimensions) -> Ranks | None:
    """The numbers, where this file knows them all."""
    numbers = frozenset(one for one in found if isinstance(one, int))
    return numbers if len(numbers) == len(found) else None


def _of_part(facts: FileFacts, part: Part) -> Dimensions:
    """One of the results of `x.sort()` or `x.chunk(2)`: each has as many dimensions as `x`."""
    called = operation_named(called_name(facts, part.call, part.scope))
    if called.results not in ("pair", "parts") or called.shape != "rank":
        return UNKNOWN
    return dimensions_of(facts, operand(facts, part.call, part.scope), part.scope)


def _of_operation(facts: FileFacts, expression: ast.BinOp, scope: int) -> Dimensions:
    left, right = (dimensions_of(facts, side, scope) for side in (expression.left, expression.right))
    if isinstance(expression.op, ast.MatMult):
        return left if left == right and 1 not in left else UNKNOWN
    if left == right or isinstance(expression.op, ast.Pow):
        return left
    numbers = [(one, other) for one in _counted(left) or () for other in _counted(right) or ()]
    if numbers:
        return frozenset(max(pair) for pair in numbers)
    for side, other in ((left, expression.right), (right, expression.left)):
        if side and _is_number(facts, other, scope):
            return side
    return UNKNOWN


def _is_number(facts: FileFacts, expression: ast.expr, scope: int) -> bool:
    return facts.value(expression, scope).is_known or kind_of(facts, expression, scope) is Kind.NUMBER


def _of_subscript(facts: FileFacts, expression: ast.Subscript, scope: int) -> Dimensions:
    added, key = 0, expression.slice
    if isinstance(key, ast.Constant) and isinstance(key.value, str):
        return _OF_MAPS if are_maps_by_key(facts, expression.value, scope) else UNKNOWN
    for part in index_parts(expression):
        if is_literal_none(part):
            added += 1
        elif isinstance(part, ast.UnaryOp) or (isinstance(part, ast.Constant) and isinstance(part.value, int)):
            added -= 1
        elif not isinstance(part, ast.Slice) and not is_ellipsis(part):
            return UNKNOWN
    return _moved(dimensions_of(facts, expression.value, scope), added)


def _moved(ranks: Dimensions, by: int) -> Dimensions:
    """Each number and `by`; those that would be below zero are not what the code means."""
    return frozenset(rank + by for rank in _counted(ranks) or () if rank + by >= 0)


def _of_named(facts: FileFacts, call: ast.Call, name: str, scope: int) -> Dimensions:
    """What a function of torch or a method of a tensor returns."""
    called = operation_named(name)
    if called.shape == "line":
        return frozenset({1})
    if name == "randint":  # low and high before the sizes, or high alone
        sizes = next((a for a in call.args if isinstance(a, (ast.Tuple, ast.List))), argument_of(call, "size", None))
        return frozenset({len(sizes.elts)}) if isinstance(sizes, (ast.Tuple, ast.List)) else UNKNOWN
    if called.shape == "given" or name == "permute":
        return _of_sizes(facts, call, name, scope)
    inner = operand(facts, call, scope)
    ranks = dimensions_of(facts, inner, scope)
    taken = _taken_by(facts, call, scope)
    if taken:
        return (ranks & taken) or taken
    is_function = inner is not None and inner in call.args
    own = call.args[1:] if is_function else call.args
    if name == "flatten" and not own and not call.keywords:
        return frozenset({1})
    if called.shape in ("same", "rank") and not called.results:
        return ranks if _counted(ranks) else _swapped(name, own) or ranks
    if name in ("unsqueeze", "unsqueeze_", "one_hot", "stack"):
        return _moved(ranks, 1)
    return _reduced(facts, call, name, own, ranks, scope)


def _swapped(name: str, axes: list[ast.expr]) -> Dimensions:
    """What `x.transpose(1, 2)` says of `x`, of which nothing else is known: it has an axis 2."""
    places = [one.value for one in axes if isinstance(one, ast.Constant) and isinstance(one.value, int)]
    if name not in _SWAPPING or len(places) != len(axes) or not places:
        return UNKNOWN
    return frozenset(range(max(places) + 1, _MOST + 1))


def _taken_by(facts: FileFacts, call: ast.Call, scope: int) -> Dimensions:
    """The numbers of dimensions that a function of `torch.nn.functional` takes and returns; empty for others."""
    home, _, name = (facts.names(call.func, scope).only or "").rpartition(".")
    if home not in ("torch.nn.functional", "torch"):
        return UNKNOWN
    if name not in ("interpolate", "upsample"):
        return load_values().functions.get(name, UNKNOWN)
    return in_modes(facts.value(argument_of(call, "mode", 3), scope))


def _reduced(
    facts: FileFacts, call: ast.Call, name: str, own: list[ast.expr], ranks: Dimensions, scope: int
) -> Dimensions:
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
    return _moved(ranks, -len(dimension.elts) if isinstance(dimension, (ast.Tuple, ast.List)) else -1)


def _of_sizes(facts: FileFacts, call: ast.Call, name: str, scope: int) -> Dimensions:
    is_function = operand(facts, call, scope) in call.args
    sizes = call.args[1:] if is_function and operation_named(name).values != "fresh" else call.args
    if not sizes or any(isinstance(size, ast.Starred) for size in sizes):
        return UNKNOWN
    first = sizes[0]
    if isinstance(first, (ast.Tuple, ast.List)):
        return UNKNOWN if any(isinstance(e, ast.Starred) for e in first.elts) else frozenset({len(first.elts)})
    if len(sizes) > 1 or isinstance(first, ast.UnaryOp) or _is_number(facts, first, scope):
        return frozenset({len(sizes)})
    return dimensions_of(facts, whose_shape(first), scope)  # any other one name may hold a whole shape


def _shape_unpackings(facts: FileFacts) -> dict[Variable | None, int]:
    """`b, c, h, w = x.shape` says that `x` has four dimensions, where `x` is bound once."""
    found: dict[Variable | None, int] = {}
    for site in facts.symbols.assign_sites:
        target = site.node.targets[0] if isinstance(site.node, ast.Assign) else None
        elements = target.elts if isinstance(target, ast.Tuple) else []
        tensor = whose_shape(site.node.value) if elements else None
        if isinstance(tensor, ast.Name) and not any(isinstance(one, ast.Starred) for one in elements):
            found[facts.variable(tensor, site.scope)] = len(elements)
    return found


def whose_shape(value: ast.expr | None) -> ast.expr | None:
    """`x` for `x.shape` and `x.size()`."""
    if is_method_call(value):
        is_whole = value.func.attr == "size" and not value.args and not value.keywords
        return value.func.value if is_whole else None
    return value.value if isinstance(value, ast.Attribute) and value.attr == "shape" else None
