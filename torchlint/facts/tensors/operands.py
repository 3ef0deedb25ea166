"""Which tensor a call works on, which of several results is picked, and what the call is named."""

from __future__ import annotations

import ast

import msgspec

from torchlint.facts.definitions import only_value
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.values import Definition, Item
from torchlint.facts.notation import hangs_on_call, is_result, maker_of
from torchlint.facts.tensors.methods import operation_named
from torchlint.facts.values import argument_of

_FIELDS = ("values", "indices")
_WITH_VALUES = 3
"""Arguments of `where(condition, x, y)`, which gives one tensor; with a condition alone it gives the places."""
FUNCTIONS = ("torch.", "triton.language.")


class Part(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One of the results of a call, as it is unpacked or picked."""

    call: ast.Call
    scope: int
    position: int


def picked_result(one: Definition) -> Part | None:
    """The one of a call's results that unpacking takes: `places` in `values, places = x.sort()`."""
    place = one.parts[0] if len(one.parts) == 1 else None
    position = place.key if isinstance(place, Item) else None
    return Part(one.node, one.scope, position) if isinstance(one.node, ast.Call) and isinstance(position, int) else None


def part_of_result(facts: FileFacts, expression: ast.expr, scope: int) -> Part | None:
    """What `x.sort().values`, `x.sort()[0]` or `x.chunk(2)[0]` picks, also from a name that stands for such a call."""
    is_field = isinstance(expression, ast.Attribute) and expression.attr in _FIELDS
    is_item = isinstance(expression, ast.Subscript) and isinstance(expression.slice, (ast.Constant, ast.UnaryOp))
    if not isinstance(expression, (ast.Attribute, ast.Subscript)) or not (is_field or is_item):
        return None
    call, where = made_by(facts, expression.value, scope)
    if call is None or not _gives_several(facts, call, where, is_named=is_field):
        return None
    if isinstance(expression, ast.Attribute):
        return Part(call, where, _FIELDS.index(expression.attr))
    place = facts.value(expression.slice, scope).constants
    return Part(call, where, place[0]) if len(place) == 1 and isinstance(place[0], int) else None


def made_by(facts: FileFacts, expression: ast.expr | None, scope: int) -> tuple[ast.Call | None, int]:
    """The call that an expression evidently stands for, with its scope."""
    value, where = only_value(facts, expression, scope)
    return value if isinstance(value, ast.Call) else None, where


def _gives_several(facts: FileFacts, call: ast.Call, scope: int, *, is_named: bool) -> bool:
    """Whether a call evidently returns several tensors: `x.max()` and `x.max(y)` return one, `x.max(1)` does not."""
    name = called_name(facts, call, scope)
    if is_named or name not in ("max", "min", "median", "nanmedian", "mode"):
        results = operation_named(name).results
        is_tuple = results == "several" and (name != "where" or len(call.args) < _WITH_VALUES)
        return results == "pair" or ((results == "parts" or is_tuple) and not is_named)
    return facts.value(beside_operand(facts, call, scope, "dim"), scope).is_known


def called_name(facts: FileFacts, call: ast.Call, scope: int) -> str | None:
    """`argmax` for both `x.argmax()` and `torch.argmax(x)`; None for functions of others than torch and Triton."""
    name = facts.names(call.func, scope).only
    is_of_result = name is not None and is_result(maker_of(name.rpartition(".")[0]))  # `net(x).permute(0, 2, 1)`
    if name is not None and not is_of_result:
        return name.rpartition(".")[2] if name.startswith(FUNCTIONS) else None
    return call.func.attr if isinstance(call.func, ast.Attribute) else None


def operand(facts: FileFacts, call: ast.Call, scope: int) -> ast.expr | None:
    """The tensor that a method is called on, or a function's first argument."""
    name = facts.names(call.func, scope).only
    is_function = name is not None and name.startswith(FUNCTIONS)
    if name is not None and is_function and not hangs_on_call(name):
        first = call.args[0] if call.args else argument_of(call, "input", None)
        if isinstance(first, (ast.List, ast.Tuple)):  # `torch.cat([a, b])`
            return first.elts[0] if first.elts else None
        return first
    return call.func.value if isinstance(call.func, ast.Attribute) else None


def beside_operand(facts: FileFacts, call: ast.Call, scope: int, name: str, place: int = 0) -> ast.expr | None:
    """An argument besides the tensor, by keyword or place: the `dim` 1 of `x.sum(1)` and `torch.sum(x, 1)`."""
    return argument_of(call, name, place + (operand(facts, call, scope) in call.args))
