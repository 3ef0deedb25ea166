"""Calls that rank: whether equal values can tie, and whether the places that are returned are used.

Values do not tie where the code evidently makes all of them different. The usual cases are a permutation that is sorted
to invert it, and random numbers that are sorted to shuffle.
"""

from __future__ import annotations

import ast
import re

from torchlint.facts.definitions import step_back
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.values import Definition, End, Item, Parameter
from torchlint.facts.memoizing import followed
from torchlint.facts.tensors.methods import method_named
from torchlint.facts.tensors.operands import beside_operand, called_name, operand
from torchlint.facts.tree import last_word

_NARROWING = frozenset({"half", "bfloat16"})
"""Different values may become the same."""
_RANKING = frozenset({"sort", "topk"})
"""What these return second is different along the dimension that was ranked, as all is that `argsort` returns."""
_PERMUTATION = re.compile(
    r"(?:^|_)(?:perm(?:s|utations?)?|shuffle[ds]?|sort(?:ed)?_(?:idx|ids|ind|index|indices))(?:_|$)"
)
"""Names of parameters and attributes that hold a permutation."""
_PLACES = {"0": False, "1": True, "-1": True, "-2": False}


def ties(facts: FileFacts, call: ast.Call, values: ast.expr | None, scope: int) -> bool:
    """Whether values may tie along the dimension in which `call` ranks them."""
    return not are_different(facts, values, _ranked_along(facts, call, scope), scope)


def _ranked_along(facts: FileFacts, call: ast.Call, scope: int) -> int | None:
    """The dimension in which `sort`, `topk` or a call like them ranks; None for one that is not written out."""
    given = beside_operand(facts, call, scope, "dim", int(called_name(facts, call, scope) == "topk"))
    return -1 if given is None else facts.value(given, scope).only(int)


@followed(otherwise=False)
def are_different(facts: FileFacts, values: ast.expr | None, along: int | None, scope: int) -> bool:
    """Whether the values of a tensor evidently differ from each other along a dimension, so that none of them tie."""
    if values is None:
        return False
    if isinstance(values, ast.Attribute) and _PERMUTATION.search(values.attr.lower()):
        return True
    steps = step_back(facts, Definition(values, scope))
    if steps is not None:
        is_made_so = bool(steps) and all(_is_step_different(facts, one, along) for one in steps)
        is_given = isinstance(values, ast.Name) and all(isinstance(one, Parameter) for one in steps)
        return is_made_so or (is_given and _PERMUTATION.search(values.id.lower()) is not None)  # type: ignore[attr-defined]
    if isinstance(values, ast.UnaryOp):
        return are_different(facts, values.operand, along, scope)
    if isinstance(values, ast.Attribute):
        return values.attr == "indices" and _is_ranking(facts, values.value, along, _RANKING, scope)
    if isinstance(values, ast.Subscript):
        is_second = isinstance(values.slice, ast.Constant) and values.slice.value == 1
        return is_second and _is_ranking(facts, values.value, along, _RANKING, scope)
    return isinstance(values, ast.Call) and _are_made_different(facts, values, along, scope)


def _is_ranking(facts: FileFacts, expression: ast.expr, along: int | None, names: frozenset[str], scope: int) -> bool:
    if not isinstance(expression, ast.Call) or called_name(facts, expression, scope) not in names:
        return False
    return along is not None and _ranked_along(facts, expression, scope) == along


def _are_made_different(facts: FileFacts, call: ast.Call, along: int | None, scope: int) -> bool:
    name = called_name(facts, call, scope)
    called = method_named(name)
    if called.holds == "distinct values" or called.draws == "continuous":
        return not any(keyword.arg == "return_inverse" for keyword in call.keywords)
    if name == "argsort":
        return _is_ranking(facts, call, along, frozenset({"argsort"}), scope)
    is_copy = called.copies and called.element not in ("integer", "bool") and name not in _NARROWING
    keeps = is_copy or name in ("neg", "unsqueeze", "squeeze")
    return keeps and are_different(facts, operand(facts, call, scope), along, scope)


def _is_step_different(facts: FileFacts, one: End, along: int | None) -> bool:
    if not isinstance(one, Definition):
        return False
    if not one.parts:
        return are_different(facts, one.node, along, one.scope)
    return one.parts == (Item(1),) and _is_ranking(facts, one.node, along, _RANKING, one.scope)


def is_second_dropped(facts: FileFacts, call: ast.Call, scope: int) -> bool:
    """Whether the second of two results gets a name that nothing reads: `values, places = x.topk(3)`."""
    if facts.function_of(scope) is None:
        return False  # a global name may be read by other files
    parent = facts.index.parents.get(call)
    target = parent.targets[0] if isinstance(parent, ast.Assign) else None
    second = target.elts[1] if isinstance(target, ast.Tuple) and len(target.elts) == 2 else None
    return isinstance(second, ast.Name) and not facts.index.reads_of(second)


def uses_indices(facts: FileFacts, call: ast.Call) -> bool | None:
    """Whether the second result of `x.median(1)`, `x.topk(3)` ... is used; None where the code does not show it."""
    name = last_word(call.func)
    if name == "argsort":
        return True
    parent = facts.index.parents.get(call)
    target = parent.targets[0] if isinstance(parent, ast.Assign) else None
    if isinstance(target, ast.Tuple) and len(target.elts) == 2:
        second = target.elts[1]
        return not (isinstance(second, ast.Name) and second.id.startswith("_"))
    if isinstance(target, ast.Name):
        parts = [_takes_indices(facts.index.parents[read]) for read in facts.index.reads_of(target)]
        if True in parts:
            return True
        return None if None in parts or not parts else False
    return False if isinstance(parent, ast.Expr) else _takes_indices(parent)


def _takes_indices(part: ast.AST | None) -> bool | None:
    """Whether `x.values`, `x.indices` or `x[1]` is the second result; None for what takes no part."""
    if isinstance(part, ast.Attribute):
        return {"values": False, "indices": True}.get(part.attr)
    return _PLACES.get(ast.unparse(part.slice)) if isinstance(part, ast.Subscript) else None


def is_used(facts: FileFacts, call: ast.Call) -> bool:
    """Whether something is made of what a call returns: it is no statement of its own, and has a name that is read."""
    parent = facts.index.parents.get(call)
    if not isinstance(parent, ast.Assign) or not isinstance(parent.targets[0], ast.Name):
        return not isinstance(parent, ast.Expr)
    return bool(facts.index.reads_of(parent.targets[0]))
