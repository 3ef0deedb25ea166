"""Whether a tensor evidently holds whole numbers (masks, counts, ones): their sums are exact, in any order."""

from __future__ import annotations

import ast
import re

from torchlint.facts.control.blocks import lines_of
from torchlint.facts.control.conditions import governed
from torchlint.facts.definitions import step_back
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.values import Definition
from torchlint.facts.memoizing import followed
from torchlint.facts.tensors.elements import element_of, is_named_mask
from torchlint.facts.tensors.methods import method_named, operation_named
from torchlint.facts.tensors.operands import called_name, operand
from torchlint.facts.tree import is_method_call, last_word

_COUNTED = frozenset(
    ["accuracies", "correct", "hits", "counts", "gt", "matches", "positives", "target", "targets", "labels"]
)
"""Names of tensors whose sums are counts."""
_COUNTS = re.compile(
    r"^(?:num|n|nb)_|(?:^|_)(?:counts?|counters?|cnt|numel|flags?)(?:_tensor|_t)?$|^n(?:tokens|sentences|samples)$|"
    r"(?:^|_)total_(?:samples|tokens|examples|predictions|steps)$"
)


@followed(otherwise=False)
def is_whole(facts: FileFacts, expression: ast.expr | None, scope: int) -> bool:
    """Whether `expression` evidently holds whole numbers, whatever its element type, or one value throughout."""
    if expression is None:
        return False
    if isinstance(expression, ast.Constant):
        return isinstance(expression.value, int)
    if element_of(facts, expression, scope) in ("integer", "bool"):
        return True
    if isinstance(expression, (ast.Name, ast.BoolOp, ast.IfExp, ast.NamedExpr)):  # an attribute may be written to
        name = expression.id.lower() if isinstance(expression, ast.Name) else ""
        is_named_so = is_named_mask(expression) or name.rpartition("_")[2] in _COUNTED
        if is_named_so and element_of(facts, expression, scope) != "float":
            return True
        steps = step_back(facts, Definition(expression, scope))
        is_made_so = bool(steps) and all(
            isinstance(one, Definition) and not one.parts and is_whole(facts, one.node, one.scope)
            for one in steps or ()
        )
        return is_made_so and (not isinstance(expression, ast.Name) or _keeps_whole(facts, expression, scope))
    return all(is_whole(facts, part, scope) for part in _deciding_parts(facts, expression, scope))


def _deciding_parts(facts: FileFacts, expression: ast.expr, scope: int) -> list[ast.expr | None]:
    """The parts that make a whole of whole parts; `[None]` for what nothing is known of."""
    if isinstance(expression, ast.UnaryOp):
        return [expression.operand]
    if isinstance(expression, ast.Subscript):
        return [expression.value]
    if isinstance(expression, ast.BinOp) and isinstance(expression.op, (ast.Add, ast.Sub, ast.Mult)):
        return [expression.left, expression.right]
    if isinstance(expression, ast.Call):
        name = called_name(facts, expression, scope)
        called = operation_named(name)
        if called.holds in ("one value", "whole numbers"):
            return [ast.Constant(1)]
        if name == "where" and len(expression.args) == 3:
            return list(expression.args[1:])
        if called.carries or called.element in ("same", "counted"):
            return [operand(facts, expression, scope)]
    return [None]


def _keeps_whole(facts: FileFacts, name: ast.Name, scope: int) -> bool:
    """Whether everything that is stored into the tensor, added to it or written over it is whole as well."""
    added = [b for b in facts.bindings(name, scope) if isinstance(b.statement, ast.AugAssign)]
    if not all(_is_whole_value(facts, b.value, b.scope) for b in added):
        return False
    variable = facts.variable(name, scope)
    for assignment in facts.symbols.assignments:
        written = assignment.target.value if isinstance(assignment.target, ast.Subscript) else None
        is_stored = facts.variable(written, assignment.scope) == variable
        if is_stored and not _is_whole_value(facts, assignment.value, assignment.scope):
            return False
    return not any(_writes_into(site.node, name.id) for site in facts.symbols.calls)


def _is_whole_value(facts: FileFacts, value: ast.expr | None, scope: int) -> bool:
    known = facts.value(value, scope)
    is_number = known.is_known and all(isinstance(constant, int) for constant in known.constants)
    return is_number or is_whole(facts, value, scope)


def _writes_into(call: ast.Call, name: str) -> bool:
    """`total.add_(x)`: an in-place method, but for those that fill with one value."""
    if not is_method_call(call) or getattr(call.func.value, "id", "") != name:
        return False
    called, word = method_named(call.func.attr), call.func.attr
    return word.endswith("_") and not word.endswith("__") and called.writes != "one" and not called.carries


def runs_on_integers(facts: FileFacts, node: ast.expr) -> bool:
    """Whether code runs only where `if x.is_floating_point():` says no."""
    return any(first <= node.lineno <= last for first, last in facts.cached(_integer_branches))


def _integer_branches(facts: FileFacts) -> list[tuple[int, int]]:
    tests = ((one, getattr(one.test, "func", one.test)) for one in facts.symbols.parents if isinstance(one, ast.If))
    decisions = (one for one, asked in tests if last_word(asked) == "is_floating_point")
    return [lines_of(run) for decision in decisions for run in governed(facts, decision, answer=False)]


def is_one_value(facts: FileFacts, expression: ast.expr | None, scope: int) -> bool:
    """Whether a tensor evidently holds one value throughout: `torch.ones(n)`, `torch.tensor(True)`."""
    if not isinstance(expression, ast.Call):
        return expression is not None and facts.value(expression, scope).is_known
    name = called_name(facts, expression, scope)
    if name in ("tensor", "as_tensor"):
        return bool(expression.args) and facts.value(expression.args[0], scope).is_known
    return operation_named(name).holds == "one value"


def is_named_count(expression: ast.expr | None) -> bool:
    """`num_tokens`, `self.total_count`, `done_flag`: as integers or as floats, which hold whole numbers exactly."""
    return _COUNTS.search(last_word(expression).lower()) is not None
