"""Training without an optimizer: weights that the code itself moves against their gradients."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.catalogue.load import load_generators
from torchlint.facts.classes import attribute_values
from torchlint.facts.scopes import BindingKind
from torchlint.facts.tree import last_word
from torchlint.facts.values import all_given
from torchlint.facts.words import says

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts


MOVING = frozenset({"add_", "sub_"})
"""Methods that move a weight in place."""
_SCALING = ast.Mult | ast.Div
_WEIGHTS = frozenset({"torch.nn.Parameter", "torch.nn.parameter.Parameter"})


def steps_by_hand(facts: FileFacts) -> Iterator[tuple[ast.stmt, int, bool]]:
    """The statements `w -= rate * w.grad` and `w = w - rate * w.grad`, each with its scope.

    The last says whether the function works the gradient out by itself: then no backward pass is missing.
    """
    for site in facts.symbols.assign_sites:
        statement = site.node
        target: ast.expr
        if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Sub):
            target, change = statement.target, statement.value
        elif isinstance(statement, ast.Assign) and _is_less(statement.value, statement.targets[0]):
            target, change = statement.targets[0], statement.value.right  # type: ignore[attr-defined]
        else:
            continue
        if not _holds_gradient(target) and _moves(facts, target, [change], site.scope):
            yield statement, site.scope, _is_worked_out(facts, change, site.scope)


def steps_in_place(facts: FileFacts, call: ast.Call, scope: int) -> bool:
    """`w.data.sub_(rate * w.grad)` and `w.data.add_(w.grad, alpha=-rate)`."""
    function, arguments = call.func, all_given(call)
    if not isinstance(function, ast.Attribute) or function.attr not in MOVING:
        return False
    is_less = function.attr == "sub_" or any(_is_negated(argument) for argument in arguments)
    return is_less and not _holds_gradient(function.value) and _moves(facts, function.value, arguments, scope)


def _is_less(value: ast.expr, target: ast.expr) -> bool:
    """`target - ...`."""
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Sub):
        return False
    return _weight(ast.unparse(value.left)) == _weight(ast.unparse(target))


def _weight(spelled: str) -> str:
    return spelled.removesuffix(".data")


def _moves(facts: FileFacts, target: ast.expr, change: list[ast.expr], scope: int) -> bool:
    """Whether a weight is moved by its gradient: by `.grad`, or by a rate and what is called a gradient.

    What a rate moves and was drawn is a weight, whatever the change is called.
    """
    if any(map(_holds_gradient, change)):
        return True
    words = [last_word(node).lower() for factor in change for node in _factors(factor)]
    name = _weight(ast.unparse(target)).rpartition(".")[2].lower()
    if "sign" in words or says(name, "searched"):  # an attack on an image
        return False
    is_gradient = any(says(word, "gradient") or word in (f"d{name}", f"d_{name}") for word in words)
    is_rate = any(says(word, "rate") for word in words)
    is_scaled = is_rate or any(isinstance(node, ast.Constant) for factor in change for node in _factors(factor))
    return (is_gradient and is_scaled) or (is_rate and _is_drawn(facts, target, scope))


def _factors(change: ast.expr) -> Iterator[ast.expr]:
    """What is multiplied and divided in an expression; of a call, what is called."""
    if isinstance(change, ast.BinOp) and isinstance(change.op, _SCALING):
        yield from (*_factors(change.left), *_factors(change.right))
    elif isinstance(change, ast.UnaryOp):
        yield from _factors(change.operand)
    else:
        yield change.func if isinstance(change, ast.Call) else change


def _is_drawn(facts: FileFacts, target: ast.expr, scope: int) -> bool:
    """Whether a name or an attribute is drawn where it is made, or is a parameter."""
    weight = target.value if isinstance(target, ast.Attribute) and target.attr == "data" else target
    values = attribute_values(facts, weight, scope)
    if values is None:
        bound = facts.bindings(weight, scope)
        values = [(one.value, one.scope) for one in bound if one.kind is BindingKind.ASSIGN and one.value is not None]
    called = [(node, where) for value, where in values for node in ast.walk(value) if isinstance(node, ast.Call)]
    return any(
        last_word(call.func) in load_generators().draws or facts.names(call.func, where).names & _WEIGHTS
        for call, where in called
    )


def _is_worked_out(facts: FileFacts, change: ast.expr, scope: int) -> bool:
    """Whether a function makes by itself what a weight is moved by: no optimizer that is written out does."""
    named = [node for node in _factors(change) if isinstance(node, ast.Name) and says(node.id, "gradient")]
    return any(
        one.kind in (BindingKind.ASSIGN, BindingKind.PART) and isinstance(one.value, ast.BinOp | ast.Call)
        for name in named
        for one in facts.bindings(name, scope)
        if not _holds_gradient(one.value)
    )


def _holds_gradient(expression: ast.expr | None) -> bool:
    """Whether an expression holds a gradient: `w.grad`, `rate * w.grad.data`. Where one is moved, no weight is."""
    nodes = () if expression is None else ast.walk(expression)
    return any(isinstance(node, ast.Attribute) and node.attr == "grad" for node in nodes)


def _is_negated(value: ast.expr) -> bool:
    return any(isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) for node in ast.walk(value))
