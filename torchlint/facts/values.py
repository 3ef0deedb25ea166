"""What an expression is worth: constants, followed through names and choices."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchlint.facts.remembering import remembered
from torchlint.facts.scopes import BindingKind

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

Constant = str | bytes | int | float | complex | bool | None


@dataclass(frozen=True, slots=True)
class Values:
    """The constants an expression may be. `complete` is False when it may be something else besides."""

    constants: tuple[Constant, ...] = ()
    complete: bool = False

    @property
    def is_known(self) -> bool:
        return self.complete and bool(self.constants)


UNKNOWN_VALUE = Values()


def value_of(facts: FileFacts, expression: ast.expr | None, scope: int, depth: int = 8) -> Values:
    """The constants `expression` may be when evaluated in `scope`. Never raises."""
    if expression is None or depth == 0:
        return UNKNOWN_VALUE
    if isinstance(expression, ast.Constant):
        if expression.value is Ellipsis:
            return UNKNOWN_VALUE
        return Values((expression.value,), complete=True)
    if isinstance(expression, ast.UnaryOp):
        return _unary(expression, value_of(facts, expression.operand, scope, depth - 1))
    if isinstance(expression, ast.IfExp):
        return _either([value_of(facts, e, scope, depth - 1) for e in (expression.body, expression.orelse)])
    if isinstance(expression, ast.Name):
        return _named(facts, expression.id, scope, depth)
    return UNKNOWN_VALUE


def display_of(facts: FileFacts, expression: ast.expr | None, scope: int) -> tuple[ast.expr | None, int]:
    """The tuple or list that a name stands for, with its scope; what is none of that as it is."""
    if isinstance(expression, ast.Name):
        owner = facts.resolver.owner(expression.id, scope)
        bound = owner.bindings[expression.id] if owner else []
        if len(bound) == 1 and bound[0].kind is BindingKind.ASSIGN and isinstance(bound[0].value, ast.Tuple | ast.List):
            return bound[0].value, bound[0].scope
    return expression, scope


def sizes_of(facts: FileFacts, expression: ast.expr | None, scope: int) -> tuple[int, ...]:
    """The whole numbers that `3` or `(1, 2, 2)` are, also by name; empty where any of them is unknown."""
    expression, scope = display_of(facts, expression, scope)
    parts = expression.elts if isinstance(expression, ast.Tuple | ast.List) else [expression]
    found = []
    for part in parts:
        constants = value_of(facts, part, scope)
        if not constants.is_known or len(constants.constants) != 1 or not isinstance(constants.constants[0], int):
            return ()
        found.append(constants.constants[0])
    return tuple(found)


def _unary(expression: ast.UnaryOp, operand: Values) -> Values:
    if not operand.is_known or not all(isinstance(c, int | float) for c in operand.constants):
        return UNKNOWN_VALUE
    if isinstance(expression.op, ast.USub):
        return Values(tuple(-c for c in operand.constants), complete=True)  # type: ignore[operator]
    if isinstance(expression.op, ast.Not):
        return Values(tuple(not c for c in operand.constants), complete=True)
    return UNKNOWN_VALUE


@remembered
def _named(facts: FileFacts, name: str, scope: int, depth: int) -> Values:
    owner = facts.resolver.owner(name, scope)
    if owner is None:
        return UNKNOWN_VALUE
    options = []
    for binding in owner.bindings[name]:
        if binding.kind is BindingKind.ASSIGN:
            options.append(value_of(facts, binding.value, binding.scope, depth - 1))
        else:
            options.append(UNKNOWN_VALUE)
    return _either(options)


def _either(options: list[Values]) -> Values:
    # bool and int compare equal in Python (True == 1), so the type belongs to the identity of a constant.
    constants = {(type(c), c): c for values in options for c in values.constants}
    return Values(tuple(constants.values()), bool(options) and all(values.complete for values in options))


def argument_of(call: ast.Call, name: str, position: int | None) -> ast.expr | None:
    """The expression given for one parameter, by keyword or position; None when it is not evidently given."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    if position is None or position >= len(call.args):
        return None
    before = call.args[: position + 1]
    return None if any(isinstance(argument, ast.Starred) for argument in before) else before[-1]


def may_be_hidden(call: ast.Call, position: int | None) -> bool:
    """Whether `*args` or `**kwargs` may carry the argument without showing it."""
    if any(keyword.arg is None for keyword in call.keywords):
        return True
    return position is not None and any(isinstance(argument, ast.Starred) for argument in call.args[: position + 1])
