"""What an expression is worth: the constants that it may be."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from torchlint.facts.definitions import definitions_of, only_value
from torchlint.facts.ends import EVERYWHERE, Definition, End, Through
from torchlint.facts.values import Constant, Values

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

UNKNOWN = Values()


def value_of(
    facts: FileFacts, expression: ast.expr | None, scope: int, through: Through = Through.NOTHING, depth: int = 8
) -> Values:
    """The constants `expression` may be when evaluated in `scope`. Never raises."""
    if expression is None or depth <= 0:
        return UNKNOWN
    if isinstance(expression, ast.Constant):  # most are: nothing is looked up for them
        return end_value(facts, Definition(expression, scope), through, depth)
    return _either(end_value(facts, one, through, depth) for one in definitions_of(facts, expression, scope, through))


def usual_values(facts: FileFacts, expression: ast.expr, scope: int) -> tuple[Constant, ...]:
    """What an expression is unless somebody else says otherwise: by defaults of parameters and calls in this file."""
    return value_of(facts, expression, scope, EVERYWHERE).constants


def end_value(facts: FileFacts, one: End, through: Through = Through.NOTHING, depth: int = 8) -> Values:
    """The constants that an end of a definition may be."""
    if not isinstance(one, Definition) or one.parts:
        return UNKNOWN
    if isinstance(one.node, ast.Constant) and one.node.value is not Ellipsis:
        return Values((one.node.value,), complete=True)
    if isinstance(one.node, ast.UnaryOp):
        return _unary(one.node, value_of(facts, one.node.operand, one.scope, through, depth - 1))
    return UNKNOWN


def display_of(facts: FileFacts, expression: ast.expr | None, scope: int) -> tuple[ast.expr | None, int]:
    """The tuple or list that an expression stands for, with its scope; what is none of that as it is."""
    value, where = only_value(facts, expression, scope, Through.NOTHING)
    return (value, where) if isinstance(value, ast.Tuple | ast.List) else (expression, scope)


def sizes_of(facts: FileFacts, expression: ast.expr | None, scope: int) -> tuple[int, ...]:
    """The whole numbers that `3` or `(1, 2, 2)` are, also by name; empty where any of them is unknown."""
    expression, scope = display_of(facts, expression, scope)
    parts = expression.elts if isinstance(expression, ast.Tuple | ast.List) else [expression]
    found = [value_of(facts, part, scope).only(int) for part in parts]
    return () if None in found else tuple(size for size in found if size is not None)


def _unary(expression: ast.UnaryOp, operand: Values) -> Values:
    if not operand.is_known or not all(isinstance(c, int | float) for c in operand.constants):
        return UNKNOWN
    if isinstance(expression.op, ast.USub):
        return Values(tuple(-c for c in operand.constants), complete=True)  # type: ignore[operator]
    if isinstance(expression.op, ast.Not):
        return Values(tuple(not c for c in operand.constants), complete=True)
    return UNKNOWN


def _either(options: Iterable[Values]) -> Values:
    options = list(options)
    # bool and int compare equal in Python (True == 1), so the type belongs to the identity of a constant.
    constants = {(type(c), c): c for values in options for c in values.constants}
    return Values(tuple(constants.values()), bool(options) and all(values.complete for values in options))
