"""Training without an optimizer: weights that the code itself moves against their gradients."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.facts.values import all_given

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts


MOVING = frozenset({"add_", "sub_"})
"""Methods that move a weight in place."""


def steps_by_hand(facts: FileFacts) -> Iterator[tuple[ast.stmt, int]]:
    """The statements `w -= rate * w.grad` and `w = w - rate * w.grad`, each with its scope."""
    for site in facts.symbols.assign_sites:
        statement = site.node
        target: ast.expr
        if isinstance(statement, ast.AugAssign):
            target, moves = statement.target, isinstance(statement.op, ast.Sub) and _holds_gradient(statement.value)
        elif isinstance(statement, ast.Assign):
            target, moves = statement.targets[0], _is_less_gradient(statement.value, statement.targets[0])
        else:
            continue
        if moves and not _holds_gradient(target):
            yield statement, site.scope


def steps_in_place(call: ast.Call) -> bool:
    """`w.data.sub_(rate * w.grad)` and `w.data.add_(w.grad, alpha=-rate)`."""
    function, arguments = call.func, all_given(call)
    if not isinstance(function, ast.Attribute) or function.attr not in MOVING:
        return False
    is_less = function.attr == "sub_" or any(_is_negated(argument) for argument in arguments)
    return is_less and not _holds_gradient(function.value) and any(_holds_gradient(argument) for argument in arguments)


def _is_less_gradient(value: ast.expr, target: ast.expr) -> bool:
    """`target - rate * target.grad`."""
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Sub):
        return False
    is_same = ast.unparse(value.left).removesuffix(".data") == ast.unparse(target).removesuffix(".data")
    return is_same and _holds_gradient(value.right)


def _holds_gradient(expression: ast.expr) -> bool:
    """Whether an expression holds a gradient: `w.grad`, `rate * w.grad.data`. Where one is moved, no weight is."""
    return any(isinstance(node, ast.Attribute) and node.attr == "grad" for node in ast.walk(expression))


def _is_negated(value: ast.expr) -> bool:
    return any(isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) for node in ast.walk(value))
