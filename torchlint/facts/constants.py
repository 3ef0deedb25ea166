"""What an expression is worth: the constants that it may be."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from torchlint.facts.definitions import definitions_of, only_value
from torchlint.facts.flow.values import EVERYWHERE, Definition, End, Field, Item, Parameter, Through
from torchlint.facts.memoizing import followed
from torchlint.facts.options.declared import command_defaults, held_default, untouched_defaults
from torchlint.facts.values import Constant, Values

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

UNKNOWN = Values()
_CONSTANTS = (str, int, float, type(None))


def value_of(facts: FileFacts, expression: ast.expr | None, scope: int, through: Through = Through.NOTHING) -> Values:
    """The constants `expression` may be when evaluated in `scope`. Never raises."""
    if expression is None:
        return UNKNOWN
    if isinstance(expression, ast.Constant):  # most are: nothing is looked up for them
        return end_value(facts, Definition(expression, scope), through)
    return _either(end_value(facts, one, through) for one in definitions_of(facts, expression, scope, through))


def entry_value(facts: FileFacts, mapping: ast.expr, keys: Iterable[str], scope: int) -> Values:
    """The constants that an entry of a mapping, or an attribute of an object, may be.

    `kwargs["mode"]` after `kwargs = {"mode": "sum"}`, `config.mode` after `config.mode = "sum"`.
    """
    keys = tuple(keys)
    read = (definitions_of(facts, mapping, scope, Through.CONTENTS, tuple(map(step, keys))) for step in (Item, Field))
    found = (_either(end_value(facts, one, Through.CONTENTS) for one in ends) for ends in read)
    return next((values for values in found if values.constants), UNKNOWN)


def usual_values(facts: FileFacts, expression: ast.expr, scope: int) -> tuple[Constant, ...]:
    """What an expression is unless somebody else says otherwise: by defaults, options and calls in this file."""
    return _either(usual_value(facts, one) for one in definitions_of(facts, expression, scope, EVERYWHERE)).constants


def usual_value(facts: FileFacts, one: End) -> Values:
    """The constants that an end of a definition is, unless the user gives the option that it reads."""
    found = end_value(facts, one, EVERYWHERE)
    return found if found.constants else Values(_by_option(facts, one), complete=False)


def _by_option(facts: FileFacts, one: End) -> tuple[Constant, ...]:
    """The default of `args.mode`, of a command's parameter, or of a field that says it by a call."""
    # Steps to one of several results do not count: `model_args, data_args = parser.parse_args_into_dataclasses()`.
    parts = () if one is None else tuple(part for part in one.parts if not isinstance(getattr(part, "key", None), int))
    if one is None or len(parts) > 1 or (one.parts and not parts):
        return ()
    is_call = isinstance(one, Definition) and isinstance(one.node, ast.Call)
    if parts:
        field = parts[0]
        is_read = isinstance(field, Field) and (is_call or isinstance(one, Parameter))
        return untouched_defaults(facts, field.name) if is_read else ()  # type: ignore[union-attr]
    if isinstance(one, Parameter):
        return command_defaults(facts, one.function, one.name)
    return held_default(facts, one.node, one.scope) if is_call else ()


def end_value(facts: FileFacts, one: End, through: Through = Through.NOTHING) -> Values:
    """The constants that an end of a definition may be."""
    if not isinstance(one, Definition) or one.parts:
        return UNKNOWN
    if isinstance(one.node, ast.Constant) and isinstance(one.node.value, _CONSTANTS):
        return Values((one.node.value,), complete=True)
    return _of_unary(facts, one.node, one.scope, through) if isinstance(one.node, ast.UnaryOp) else UNKNOWN


@followed(otherwise=UNKNOWN)
def _of_unary(facts: FileFacts, node: ast.UnaryOp, scope: int, through: Through) -> Values:
    operand = value_of(facts, node.operand, scope, through)
    if not operand.is_known or not all(isinstance(c, (int, float)) for c in operand.constants):
        return UNKNOWN
    if isinstance(node.op, ast.USub):
        return Values(tuple(-c for c in operand.constants), complete=True)  # type: ignore[operator]
    return Values(tuple(not c for c in operand.constants), complete=True) if isinstance(node.op, ast.Not) else UNKNOWN


def display_of(facts: FileFacts, expression: ast.expr | None, scope: int) -> tuple[ast.expr | None, int]:
    """The tuple or list that an expression stands for, with its scope; what is none of that as it is."""
    value, where = only_value(facts, expression, scope, Through.NOTHING)
    return (value, where) if isinstance(value, (ast.Tuple, ast.List)) else (expression, scope)


def holds_call(facts: FileFacts, call: ast.Call, scope: int, name: re.Pattern[str]) -> bool:
    """Whether the list that a call is given first holds a call of such a name: `Compose([RandFlip()])`."""
    given, scope = display_of(facts, call.args[0] if call.args else None, scope)
    elements = given.elts if isinstance(given, (ast.List, ast.Tuple)) else []
    called = (facts.names(one.func, scope).only for one in elements if isinstance(one, ast.Call))
    return any(name.fullmatch(one or "") for one in called)


def sizes_of(facts: FileFacts, expression: ast.expr | None, scope: int) -> tuple[int, ...]:
    """The whole numbers that `3` or `(1, 2, 2)` are, also by name; empty where any of them is unknown."""
    expression, scope = display_of(facts, expression, scope)
    parts = expression.elts if isinstance(expression, (ast.Tuple, ast.List)) else [expression]
    found = [value_of(facts, part, scope).only(int) for part in parts]
    return () if None in found else tuple(size for size in found if size is not None)


def _either(options: Iterable[Values]) -> Values:
    options = list(options)
    # bool and int compare equal in Python (True == 1), so the type belongs to the identity of a constant.
    constants = {(type(c), c): c for values in options for c in values.constants}
    return Values(tuple(constants.values()), bool(options) and all(values.complete for values in options))
