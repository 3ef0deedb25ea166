"""TL607 exact-device-compare: equality asked of floats that were computed in two places."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import msgspec

from torchlint.catalogue.values import Kind
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.visit import Visit
from torchlint.facts.definitions import agreed, only_value
from torchlint.facts.file import FileFacts
from torchlint.facts.memoizing import followed
from torchlint.facts.tensors.devices import Device, devices_named, is_dtype
from torchlint.facts.tensors.elements import element_of
from torchlint.facts.tensors.kinds import kind_of
from torchlint.facts.tensors.methods import function_named, method_named
from torchlint.facts.values import argument_of

_CODE = "TL607"
_EQUALITY = frozenset({"torch.equal", "numpy.array_equal", "numpy.testing.assert_array_equal"})
_PAIR = 2
_DRAWN = frozenset({"torch.rand", "torch.randn", "torch.normal"})
"""What makes floats that are no round numbers; sums of those round."""


@check(codes=(_CODE,), triggers=Triggers(calls=_EQUALITY | {"torch.all"}, methods=frozenset({"equal", "all"})))
def find(visit: Visit) -> Iterator[Finding]:
    """An exact comparison of two results that round differently."""
    facts, scope = visit.facts, visit.scope
    sides = _sides(facts, visit.call, scope) if facts.imports_torch else None
    # `print(torch.equal(a, b))` only shows it, and `assert not torch.equal(a, b)` knows that they differ.
    is_shown = visit.site.is_alone and "assert" not in ast.unparse(visit.call.func)
    if sides is None or is_shown or any(_denies(outer) for outer, _ in facts.index.ancestors(visit.call)):
        return
    left, right = sides
    first, second = _computed(facts, left, scope), _computed(facts, right, scope)
    if first is None or second is None or first.operator != second.operator or first.device == second.device:
        return
    if "integer" in (element_of(facts, left, scope), element_of(facts, right, scope)):
        return
    values = {"first": f"on {first.device}", "second": f"on {second.device}"}
    related = ((first.node, f"computed {values['first']}"), (second.node, f"computed {values['second']}"))
    yield Finding(_CODE, visit.node, values, related=related)


def _sides(facts: FileFacts, call: ast.Call, scope: int) -> tuple[ast.expr, ast.expr] | None:
    name = facts.names(call.func, scope).only
    if name in _EQUALITY:
        return (call.args[0], call.args[1]) if len(call.args) >= _PAIR else None
    method = call.func if isinstance(call.func, ast.Attribute) else None
    if name == "torch.all" and call.args:
        return _equated(call.args[0])
    if method is not None and method.attr == "equal" and len(call.args) == 1:
        return method.value, call.args[0]
    return _equated(method.value) if method is not None and method.attr == "all" else None


def _equated(expression: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    is_equality = isinstance(expression, ast.Compare) and [type(o) for o in expression.ops] == [ast.Eq]
    return (expression.left, expression.comparators[0]) if is_equality else None  # type: ignore[attr-defined]


def _denies(outer: ast.AST) -> bool:
    if isinstance(outer, ast.UnaryOp):
        return isinstance(outer.op, ast.Not)
    last = ast.unparse(outer.func).rpartition(".")[2] if isinstance(outer, ast.Call) else ""
    return last in ("print", "assertFalse", "display")


class _Computed(msgspec.Struct, frozen=True):
    """The last rounding operator, and where it ran."""

    operator: str
    device: str
    node: ast.expr


@followed(otherwise=None)
def _computed(facts: FileFacts, expression: ast.expr, scope: int) -> _Computed | None:
    """How a tensor was computed, seen through copies and names; None where that is not evident."""
    value, scope = only_value(facts, expression, scope)
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.MatMult):
        return _at(facts, "matmul", value, [value.left, value.right], scope)
    if not isinstance(value, ast.Call):
        return None
    function = value.func
    if isinstance(function, ast.Attribute) and _copies(function.attr):
        return _computed(facts, function.value, scope)
    name = facts.names(value.func, scope).only or ""
    last = name.rpartition(".")[2]
    if function_named(name).rounds:
        return _at(facts, last, value, value.args, scope)
    if isinstance(value.func, ast.Attribute) and method_named(value.func.attr).rounds and "." not in name:
        return _at(facts, value.func.attr, value, [value.func.value], scope)
    if kind_of(facts, value.func, scope) is Kind.MODULE and value.args:
        return _at(facts, "a model", value, value.args[:1], scope)
    return None


def _copies(name: str) -> bool:
    """Whether a method gives the same numbers, as floats, here or elsewhere."""
    found = method_named(name)
    return found.copies and found.element not in ("integer", "bool")


def _at(facts: FileFacts, operator: str, node: ast.expr, operands: list[ast.expr], scope: int) -> _Computed | None:
    known = [place for operand in operands if (place := _device_of(facts, operand, scope)) is not None]
    return _Computed(operator, known[0], node) if known and len(set(known)) == 1 else None


@followed(otherwise=None)
def _device_of(facts: FileFacts, expression: ast.expr, scope: int) -> str | None:
    """Where the floats of an operand are; None for what does not go back to random floats of this function."""
    return agreed(facts, expression, scope, lambda call, where: _device_of_call(facts, call, where))


def _device_of_call(facts: FileFacts, call: ast.expr, scope: int) -> str | None:
    if not isinstance(call, ast.Call):
        return None
    if facts.names(call.func, scope).only in _DRAWN:
        device = argument_of(call, "device", None)
        return "CPU" if device is None else _device(facts, device, scope)
    if not isinstance(call.func, ast.Attribute) or not _copies(call.func.attr):
        return None
    before, method = _device_of(facts, call.func.value, scope), call.func.attr
    if before is not None and method in ("cpu", "cuda"):
        return method.upper()
    device = argument_of(call, "device", 0) if method == "to" else None
    if before is None or device is None or is_dtype(facts, device, scope):
        return before
    return _device(facts, device, scope)


def _device(facts: FileFacts, device: ast.expr, scope: int) -> str | None:
    found = devices_named(facts, device, scope)
    return "CUDA" if Device.CUDA in found else "CPU" if found is Device.CPU else None
