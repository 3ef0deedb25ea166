"""Reads by index whose backward pass evidently adds nothing up: no place is taken twice, or no gradient flows back.

This goes by shapes and names where `indices` goes by how an index is made: a read may take one place in each row
(`log_probabilities.gather(1, actions.unsqueeze(1))`), put rows into another order, or look something up in a buffer.
"""

from __future__ import annotations

import ast
import re

from torchlint.catalogue.values import Kind
from torchlint.checks.operators.indexing.indices import Repeats, has_unit_dim, repeats_of
from torchlint.facts.classes import attribute_values
from torchlint.facts.definitions import step_back
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.values import Definition
from torchlint.facts.gradients import asks_for_gradient, is_cut_off, is_filled_up, is_told_to_ask
from torchlint.facts.memoizing import followed
from torchlint.facts.tensors.kinds import kind_of
from torchlint.facts.tensors.methods import method_named
from torchlint.facts.tensors.operands import called_name, operand
from torchlint.facts.tensors.views import unit_dims_of
from torchlint.facts.tree import index_parts, is_ellipsis, is_method_call, is_own, last_word

_DIFFERENT = frozenset({"arange", "randperm"})
"""What these return is different throughout, in whatever shape it is put."""
_REORDERING = re.compile(
    r"(?:^|_)(?:inv(?:erse)?_?)?perm(?:s|utations?)?(?:_|$)|(?:^|_)(?:un|re)?sort(?:ed|ing)?(?:_|$)|"
    r"restor|shuffle|(?:^|_)(?:re)?order(?:ing)?(?:_|$)|(?:^|_)keep(?:_|$)"
)
"""Names of indices that put things into another order, or leave some out: each is taken at most once."""
_ONE_PER_ROW = re.compile(r"(?:^|_)(?:actions?|targets?|labels?)$")
_WHOLE_NUMBERS = re.compile(
    r"(?:^|_)(?:ids?|idxs?|index|indexes|indices|lengths?|(?:cu_?)?(?:seq_?)?lens(?:_[qk])?|"
    r"cu_seqlens?|grid_t?hw|actions|labels?|types|species|adj\d?|adjacency)$"
)
"""Names of tensors that hold whole numbers, or which nodes are joined: no gradient flows through them."""


@followed(otherwise=False)
def takes_each_once(facts: FileFacts, index: ast.expr | None, dimension: int | None, scope: int) -> bool:
    """Whether a read along `dimension` evidently takes no place twice."""
    if index is None:
        return False
    if _is_reordering(facts, index, scope) or _has_one(facts, index, dimension, scope):
        return True
    steps = step_back(facts, Definition(index, scope))
    if steps is not None:
        return bool(steps) and all(
            isinstance(one, Definition) and not one.parts and _once(facts, one.node, dimension, one.scope)
            for one in steps
        )
    if isinstance(index, ast.BinOp):
        kinds = [(side, kind_of(facts, side, scope)) for side in (index.left, index.right)]
        # What the class keeps (`self.vocab_size`) is a number, too, beside an index.
        numbers = [side for side, kind in kinds if kind is Kind.NUMBER or (is_own(side) and kind is Kind.UNKNOWN)]
        sides = [side for side, _ in kinds if side not in numbers]
        return bool(sides) and all(_once(facts, side, dimension, scope) for side in sides)
    if isinstance(index, ast.Tuple):
        parts = [part for part in index.elts if not isinstance(part, (ast.Slice, ast.Constant))]
        return bool(parts) and all(takes_each_once(facts, part, None, scope) for part in parts)
    if isinstance(index, ast.Subscript):
        is_cut = all(isinstance(part, ast.Slice) or is_ellipsis(part) for part in index_parts(index))
        return is_cut and _once(facts, index.value, dimension, scope)  # `order[..., :k]`
    if isinstance(index, ast.Attribute):
        return index.attr == "data" and _once(facts, index.value, dimension, scope)
    if not isinstance(index, ast.Call):
        return False
    name = called_name(facts, index, scope)
    is_same = method_named(name).copies or name in ("squeeze", "unsqueeze")
    return is_same and _once(facts, operand(facts, index, scope), dimension, scope)


def _once(facts: FileFacts, index: ast.expr | None, dimension: int | None, scope: int) -> bool:
    if index is None:
        return False
    is_made_so = repeats_of(facts, index, scope) is Repeats.NO or has_unit_dim(facts, index, dimension, scope)
    return is_made_so or takes_each_once(facts, index, dimension, scope)


def is_named_for_one(index: ast.expr | None) -> bool:
    """`actions`, `targets.unsqueeze(-1)`: what is chosen in each row, once."""
    while is_method_call(index):
        index = index.func.value
    return _ONE_PER_ROW.search(last_word(index).lower()) is not None


def _is_reordering(facts: FileFacts, index: ast.expr, scope: int) -> bool:
    """Whether an index is called a permutation, or is `arange` or `randperm` in another shape."""
    if isinstance(index, (ast.Name, ast.Attribute)):
        is_named = _REORDERING.search(last_word(index).lower()) is not None
        return is_named and repeats_of(facts, index, scope) not in (Repeats.YES, Repeats.GROUPS)
    while isinstance(index, ast.Call) and method_named(called_name(facts, index, scope)).rearranges:
        inner = operand(facts, index, scope)
        if inner is None:
            return False
        index = inner
    return isinstance(index, ast.Call) and called_name(facts, index, scope) in _DIFFERENT


def _has_one(facts: FileFacts, index: ast.expr, dimension: int | None, scope: int) -> bool:
    """Whether an index evidently has one element, in all or along the dimension that is read."""
    if isinstance(index, ast.List):
        return len(index.elts) == 1 and not isinstance(index.elts[0], (ast.Starred, ast.List))
    ones = unit_dims_of(facts, index, scope)
    if dimension is None:
        return False
    other = dimension - ones.rank if ones.rank is not None and dimension >= 0 else dimension + (ones.rank or 0)
    is_there = dimension in ones.places or (ones.rank is not None and other in ones.places)
    # `x.gather(1, actions.unsqueeze(-1))`: an index has as many dimensions as what is read, so the last one is meant.
    return is_there or (dimension >= 1 and -1 in ones.places and ones.rank is None)


@followed(otherwise=False)
def carries_no_gradient(facts: FileFacts, value: ast.expr | None, scope: int) -> bool:
    """Whether what is read is evidently a buffer, the data of a parameter, or by its name made of whole numbers."""
    if value is None:
        return False
    if is_cut_off(facts, value, scope):
        return True
    if asks_for_gradient(facts, value, scope):
        return False
    if isinstance(value, ast.Subscript):
        return carries_no_gradient(facts, value.value, scope)
    if isinstance(value, ast.Call):
        name = called_name(facts, value, scope)
        joined = value.args[0] if name == "cat" and value.args else None
        parts = joined.elts if isinstance(joined, (ast.List, ast.Tuple)) else [operand(facts, value, scope)]
        called = method_named(name)
        is_alone = called.reads and called.shape in ("same", "reduced")
        follows = called.carries or is_alone or name in ("cat", "clamp", "fill_")
        return follows and all(carries_no_gradient(facts, part, scope) for part in parts)
    if isinstance(value, ast.BinOp):
        sides = [s for s in (value.left, value.right) if kind_of(facts, s, scope) is not Kind.NUMBER]
        return bool(sides) and all(carries_no_gradient(facts, side, scope) for side in sides)
    if isinstance(value, ast.Attribute):
        return (
            value.attr == "data" or bool(_WHOLE_NUMBERS.search(value.attr.lower())) or _is_buffer(facts, value, scope)
        )
    steps = step_back(facts, Definition(value, scope))
    is_made_so = bool(steps) and all(
        isinstance(one, Definition) and not one.parts and carries_no_gradient(facts, one.node, one.scope)
        for one in steps or ()
    )
    if not isinstance(value, ast.Name):
        return is_made_so
    if is_told_to_ask(facts, value.id, scope):
        return False
    is_left_so = is_made_so and not is_filled_up(facts, value.id, facts.function_of(scope))
    return is_left_so or _WHOLE_NUMBERS.search(value.id.lower()) is not None


def _is_buffer(facts: FileFacts, value: ast.Attribute, scope: int) -> bool:
    """Whether all that a class keeps under this name it registers as a buffer."""
    kept = attribute_values(facts, value, scope)
    return bool(kept) and all(id(made) in facts.cached(_buffers) for made, _ in kept or ())


def _buffers(facts: FileFacts) -> frozenset[int]:
    """The ids of the values that `register_buffer` is given."""
    calls = (site.node for site in facts.symbols.calls if is_method_call(site.node, "register_buffer"))
    return frozenset(id(call.args[1]) for call in calls if len(call.args) > 1)
