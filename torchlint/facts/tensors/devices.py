"""On which devices tensors and modules may evidently lie."""

from __future__ import annotations

import ast
import enum
from collections.abc import Callable, Iterable
from functools import reduce
from operator import or_

from torchlint.facts.control.order import may_follow
from torchlint.facts.definitions import definitions_of, step_back
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.values import Definition, End, Through
from torchlint.facts.grouping import grouped
from torchlint.facts.memoizing import followed, memoized
from torchlint.facts.notation import hangs_on_call
from torchlint.facts.options.declared import option_defaults
from torchlint.facts.scopes import CallSite
from torchlint.facts.tensors.methods import method_named
from torchlint.facts.tree import is_method_call
from torchlint.facts.values import argument_of


class Device(enum.Flag):
    """The kinds of devices that something may be on; several where the code chooses."""

    NONE = 0
    CPU = enum.auto()
    CUDA = enum.auto()
    UNKNOWN = enum.auto()


_MOVING = frozenset({"xpu", "mps", "to_device"})
"""Methods that are not everywhere, or not torch's, and lead to another device."""
_LEAVING = frozenset({"state_dict", "parameters", "named_parameters"})
"""Methods of modules whose result is not where the module is, or no tensor."""


def is_on_cpu(facts: FileFacts, expression: ast.expr | None, scope: int) -> bool:
    """Whether a tensor evidently is in the memory of the CPU, so that what is done with it runs there."""
    return devices_of(facts, expression, scope) is Device.CPU


def is_on_cuda(facts: FileFacts, expression: ast.expr, scope: int) -> bool:
    """Whether a tensor or module is on a CUDA device, at least in one of the ways it is made."""
    return Device.CUDA in devices_of(facts, expression, scope)


def is_cuda_device(facts: FileFacts, device: ast.expr, scope: int) -> bool:
    """Whether a device is CUDA, or is where there is one: `"cuda" if torch.cuda.is_available() else "cpu"`."""
    return Device.CUDA in devices_named(facts, device, scope)


@followed(otherwise=Device.UNKNOWN)
def devices_of(facts: FileFacts, expression: ast.expr | None, scope: int) -> Device:
    """Where a tensor or module may be: `x.cuda()`, `x.to("cpu")`, made there, or made of such by its methods."""
    if expression is None:
        return Device.UNKNOWN
    if isinstance(expression, (ast.Name, ast.Attribute)) and _is_moved(facts, expression, scope):
        return Device.CUDA
    steps = step_back(facts, Definition(expression, scope))
    if steps is not None:
        return _any_of(steps, lambda one: devices_of(facts, one.node, one.scope))
    if isinstance(expression, ast.Subscript):
        return devices_of(facts, expression.value, scope)
    if isinstance(expression, ast.BinOp):
        sides = [devices_of(facts, side, scope) for side in (expression.left, expression.right)]
        return reduce(or_, sides) & ~Device.UNKNOWN or Device.UNKNOWN  # both sides are on one device
    return _of_call(facts, expression, scope) if isinstance(expression, ast.Call) else Device.UNKNOWN


def _any_of(ends: Iterable[End], asked: Callable[[Definition], Device]) -> Device:
    found = (asked(one) if isinstance(one, Definition) else Device.UNKNOWN for one in ends)
    return reduce(or_, found, Device.NONE) or Device.UNKNOWN


def _of_call(facts: FileFacts, call: ast.Call, scope: int) -> Device:
    moved = moved_to(facts, call, scope)
    if moved is not None:
        return moved
    name = facts.names(call.func, scope).only or ""
    device = argument_of(call, "device", None)
    if name.startswith("torch.") and device is not None:
        return devices_named(facts, device, scope)
    if name == "torch.from_numpy":
        return Device.CPU
    if name.startswith("torch.") and not hangs_on_call(name) and call.args:
        return devices_of(facts, call.args[0], scope)
    if isinstance(call.func, ast.Name):  # what a module computes is where the module is
        return devices_of(facts, call.func, scope)
    if not isinstance(call.func, ast.Attribute) or call.func.attr in _LEAVING | _MOVING:
        return Device.UNKNOWN
    if call.func.attr != "to" and not method_named(call.func.attr).stays:
        return Device.UNKNOWN
    module = devices_of(facts, call.func, scope)
    return module if module is not Device.UNKNOWN else devices_of(facts, call.func.value, scope)


def moved_to(facts: FileFacts, call: ast.Call, scope: int) -> Device | None:
    """Where `x.cuda()`, `x.cpu()` and `x.to(device)` lead; None for calls that move nothing."""
    function = call.func
    if not isinstance(function, ast.Attribute) or (facts.names(function, scope).only or "").startswith("torch.cuda"):
        return None
    if function.attr in ("cuda", "cpu"):
        return Device[function.attr.upper()]
    device = argument_of(call, "device", 0)
    if function.attr != "to" or device is None or is_dtype(facts, device, scope):
        return None
    return devices_named(facts, device, scope)


@memoized
def devices_named(facts: FileFacts, device: ast.expr | None, scope: int) -> Device:
    """What `"cuda:0"`, `torch.device("cpu")` or an option that holds such a text stands for."""
    ends = () if device is None else definitions_of(facts, device, scope, Through.CHANGES | Through.PARAMETERS)
    return _any_of(ends, lambda one: Device.UNKNOWN if one.parts else _named(facts, one))


def _named(facts: FileFacts, one: Definition) -> Device:
    node = one.node
    if isinstance(node, ast.Constant):
        return _spelled(node.value)
    if isinstance(node, ast.JoinedStr) and node.values:
        return devices_named(facts, node.values[0], one.scope)
    if isinstance(node, ast.BinOp):
        return devices_named(facts, node.left, one.scope)
    if isinstance(node, ast.Attribute):
        return reduce(or_, map(_spelled, option_defaults(facts, node.attr)), Device.NONE) or Device.UNKNOWN
    is_device = isinstance(node, ast.Call) and facts.names(node.func, one.scope).only == "torch.device"
    return devices_named(facts, node.args[0], one.scope) if is_device and node.args else Device.UNKNOWN  # type: ignore[attr-defined]


def _spelled(device: object) -> Device:
    is_cuda = isinstance(device, str) and device.startswith("cuda")
    return Device.CUDA if is_cuda else Device.CPU if device == "cpu" else Device.UNKNOWN


def _is_moved(facts: FileFacts, thing: ast.Name | ast.Attribute, scope: int) -> bool:
    """Whether a statement by itself, `model.cuda()`, moves a module, above in the same function; none moves it off."""
    sites = facts.cached(_moves).get(ast.unparse(thing), ())
    if isinstance(thing, ast.Name):
        owner = facts.resolver.owner
        sites = [site for site in sites if owner(thing.id, site.scope) is owner(thing.id, scope)]
    else:
        sites = [site for site in sites if facts.class_of(site.scope) == facts.class_of(scope)]
    above = [site for site in sites if may_follow(facts, site.node, thing)]
    return bool(above) and all(Device.CUDA in (moved_to(facts, s.node, s.scope) or Device.NONE) for s in sites)


def _moves(facts: FileFacts) -> dict[str, list[CallSite]]:
    """The statements that move something, to wherever, by what they move; `model.to(torch.half)` moves nothing."""
    alone = ((one, one.node) for one in facts.symbols.calls if one.is_alone)
    calls = ((site, call, call.func.value) for site, call in alone if is_method_call(call, "cuda", "to", "cpu"))
    named = ((site, call.args[:1], one) for site, call, one in calls if isinstance(one, (ast.Name, ast.Attribute)))
    moving = ((one, site) for site, to, one in named if not any(is_dtype(facts, place, site.scope) for place in to))
    return grouped((ast.unparse(one), site) for one, site in moving)


def is_dtype(facts: FileFacts, expression: ast.expr, scope: int) -> bool:
    """Whether an expression is a dtype: `torch.float32`, `x.dtype`."""
    if isinstance(expression, ast.Attribute) and expression.attr == "dtype":
        return True
    home, _, name = (facts.names(expression, scope).only or "").rpartition(".")
    return home == "torch" and not hangs_on_call(name)
