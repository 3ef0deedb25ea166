"""Where, and in which precision, a float tensor was computed: what rounds differently on another device or type."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import msgspec

from torchlint.catalogue.values import Kind
from torchlint.facts.definitions import agreed, only_value
from torchlint.facts.memoizing import memoized
from torchlint.facts.tensors.devices import Device, devices_named
from torchlint.facts.tensors.elements import element_of
from torchlint.facts.tensors.kinds import kind_of
from torchlint.facts.tensors.methods import function_named, method_named
from torchlint.facts.tree import last_word
from torchlint.facts.values import argument_of

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_DRAWN = frozenset({"torch.rand", "torch.randn", "torch.normal"})
"""What makes floats that are no round numbers; sums of those round."""
_TYPES = {
    **dict.fromkeys(("half", "torch.half", "torch.float16"), "float16"),
    **dict.fromkeys(("bfloat16", "torch.bfloat16"), "bfloat16"),
    **dict.fromkeys(("float", "torch.float", "torch.float32"), "float32"),
    **dict.fromkeys(("double", "torch.double", "torch.float64"), "float64"),
}
_DEFAULT_TYPE = "float32"


class Place(msgspec.Struct, frozen=True):
    """A device and an element type; None for one that is not known."""

    device: str | None
    element: str | None


class Computed(msgspec.Struct, frozen=True):
    """The last rounding operator, and where it ran."""

    operator: str
    place: Place
    node: ast.expr


@memoized
def computed(facts: FileFacts, expression: ast.expr, scope: int, depth: int = 8) -> Computed | None:
    """How a tensor was computed, seen through copies and names; None where that is not evident."""
    value, scope = only_value(facts, expression, scope) if depth else (None, scope)
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.MatMult):
        return _at(facts, "matmul", value, [value.left, value.right], scope)
    if not isinstance(value, ast.Call):
        return None
    function = value.func
    if isinstance(function, ast.Attribute) and _copies(function.attr):
        return computed(facts, function.value, scope, depth - 1)
    return _of_call(facts, value, scope)


def _copies(name: str) -> bool:
    """Whether a method gives the same numbers, as floats, here or elsewhere."""
    found = method_named(name)
    return found.copies and found.element not in ("integer", "bool")


def _of_call(facts: FileFacts, call: ast.Call, scope: int) -> Computed | None:
    name = facts.names(call.func, scope).only or ""
    last = name.rpartition(".")[2]
    if function_named(name).rounds:
        return _at(facts, last, call, call.args, scope)
    if isinstance(call.func, ast.Attribute) and method_named(call.func.attr).rounds and "." not in name:
        return _at(facts, call.func.attr, call, [call.func.value], scope)
    if kind_of(facts, call.func, scope) is Kind.MODULE and call.args:
        return _at(facts, "a model", call, call.args[:1], scope)
    return None


def _at(facts: FileFacts, operator: str, node: ast.expr, operands: list[ast.expr], scope: int) -> Computed | None:
    known = [place for operand in operands if (place := _place(facts, operand, scope)) is not None]
    return Computed(operator, known[0], node) if known and len(set(known)) == 1 else None


@memoized
def _place(facts: FileFacts, expression: ast.expr, scope: int, depth: int = 8) -> Place | None:
    """Where the floats of an operand are; None for what does not go back to random floats of this function."""
    return agreed(facts, expression, scope, lambda call, where: _place_of_call(facts, call, where, depth))


def _place_of_call(facts: FileFacts, call: ast.expr, scope: int, depth: int) -> Place | None:
    if not isinstance(call, ast.Call) or depth <= 0:
        return None
    if facts.names(call.func, scope).only in _DRAWN:
        return _made(facts, call, scope)
    if not isinstance(call.func, ast.Attribute) or not _copies(call.func.attr):
        return None
    before = _place(facts, call.func.value, scope, depth - 1)
    return None if before is None else _converted(facts, call, before, scope)


def _made(facts: FileFacts, call: ast.Call, scope: int) -> Place | None:
    if facts.cached(_sets_defaults):
        return None
    device, element = argument_of(call, "device", None), argument_of(call, "dtype", None)
    return Place(
        "CPU" if device is None else _device(facts, device, scope),
        _DEFAULT_TYPE if element is None else _TYPES.get(facts.names(element, scope).only or ""),
    )


def _sets_defaults(facts: FileFacts) -> bool:
    """Whether the file changes where, or as what, torch makes tensors."""
    return any(last_word(site.node.func).startswith("set_default_") for site in facts.symbols.calls)


def _device(facts: FileFacts, device: ast.expr, scope: int) -> str | None:
    found = devices_named(facts, device, scope)
    if Device.CUDA in found:
        return "CUDA"
    return "CPU" if found is Device.CPU else None


def _converted(facts: FileFacts, call: ast.Call, before: Place, scope: int) -> Place:
    method = call.func.attr  # type: ignore[attr-defined]
    if method in ("cpu", "cuda"):
        return Place(method.upper(), before.element)
    if method in _TYPES:
        return Place(before.device, _TYPES[method])
    if method != "to":
        return before
    place = before
    for given in [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg in ("device", "dtype"))]:
        element = _TYPES.get(facts.names(given, scope).only or "")
        place = Place(place.device, element) if element else Place(_device(facts, given, scope), place.element)
    return place


def differing(facts: FileFacts, left: ast.expr, right: ast.expr, scope: int) -> tuple[Computed, Computed] | None:
    """The two computations, if both sides are the same operator on floats, on two devices or in two types."""
    first, second = computed(facts, left, scope), computed(facts, right, scope)
    if first is None or second is None or first.operator != second.operator:
        return None
    if "integer" in (element_of(facts, left, scope), element_of(facts, right, scope)):
        return None
    return (first, second) if _differ(first.place, second.place) else None


def _differ(first: Place, second: Place) -> bool:
    devices, elements = {first.device, second.device}, {first.element, second.element}
    return (None not in devices and len(devices) > 1) or (None not in elements and len(elements) > 1)
