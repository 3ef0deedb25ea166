"""Tensors and modules that evidently lie on a CUDA device, at least in one of the ways they are made."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.facts.classes import attribute_values
from torchlint.facts.control.order import may_follow
from torchlint.facts.functions import choices
from torchlint.facts.options.declared import option_defaults
from torchlint.facts.reaching import reaching
from torchlint.facts.remembering import remembered
from torchlint.facts.scopes import Binding, BindingKind, CallSite
from torchlint.facts.tensors.methods import method_named
from torchlint.facts.values import argument_of

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_LEAVING = frozenset({"state_dict", "parameters", "named_parameters"})
"""Methods of modules whose result is not where the module is, or no tensor."""
_WRAPPERS = frozenset(
    {
        "torch.nn.DataParallel",
        "torch.nn.parallel.DistributedDataParallel",
        "torch.compile",
        "torch.jit.script",
        "torch.jit.trace",
    }
)


@remembered
def is_on_cuda(facts: FileFacts, expression: ast.expr | None, scope: int, depth: int = 8) -> bool:
    """Whether a tensor or module is `x.cuda()`, `x.to("cuda")` or made there, or made of one by its methods."""
    if expression is None or depth == 0:
        return False
    if isinstance(expression, ast.Name):
        return _is_name_on_cuda(facts, expression, scope, depth)
    if isinstance(expression, ast.Attribute):
        kept = attribute_values(facts, expression, scope)
        if kept is None:
            return False
        return _is_moved(facts, expression, scope) or any(is_on_cuda(facts, v, s, depth - 1) for v, s in kept)
    if isinstance(expression, ast.Subscript):
        return is_on_cuda(facts, expression.value, scope, depth - 1)
    if isinstance(expression, ast.BinOp):
        return any(is_on_cuda(facts, side, scope, depth - 1) for side in (expression.left, expression.right))
    return isinstance(expression, ast.Call) and _is_call_on_cuda(facts, expression, scope, depth)


def _is_name_on_cuda(facts: FileFacts, name: ast.Name, scope: int, depth: int) -> bool:
    if _is_moved(facts, name, scope):
        return True
    bound = [b for b in reaching(facts, name.id, scope, name.lineno) if b.kind is BindingKind.ASSIGN]
    return any(is_on_cuda(facts, b.value, b.scope, depth - 1) for b in bound)


def _is_call_on_cuda(facts: FileFacts, call: ast.Call, scope: int, depth: int) -> bool:
    if moves_to_cuda(facts, call, scope):
        return True
    name = facts.names(call.func, scope).only or ""
    device = argument_of(call, "device", None)
    if name.startswith("torch.") and device is not None:
        return is_cuda_device(facts, device, scope)
    if (name in _WRAPPERS or name.startswith("torch.")) and "()" not in name and call.args:
        return is_on_cuda(facts, call.args[0], scope, depth - 1)
    stays = isinstance(call.func, ast.Attribute) and method_named(call.func.attr).stays
    if not isinstance(call.func, ast.Attribute) or not stays or call.func.attr in _LEAVING:
        # What a module computes is where the module is.
        return isinstance(call.func, ast.Name) and is_on_cuda(facts, call.func, scope, depth - 1)
    return is_on_cuda(facts, call.func, scope, depth - 1) or is_on_cuda(facts, call.func.value, scope, depth - 1)


def moves_to_cuda(facts: FileFacts, call: ast.Call, scope: int) -> bool:
    """`x.cuda()`, `x.to("cuda")`, `x.to(device)` with a device that is chosen as CUDA."""
    if not isinstance(call.func, ast.Attribute) or (facts.names(call.func, scope).only or "").startswith("torch.cuda"):
        return False
    if call.func.attr == "cuda":
        return True
    given = [*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg == "device")]
    return call.func.attr == "to" and any(is_cuda_device(facts, device, scope) for device in given)


@remembered
def is_cuda_device(facts: FileFacts, device: ast.expr | None, scope: int, depth: int = 6) -> bool:
    """Whether a device is CUDA, or is where there is one: `"cuda" if torch.cuda.is_available() else "cpu"`."""
    if device is None or depth == 0:
        return False
    if isinstance(device, ast.IfExp):
        return any(is_cuda_device(facts, choice, scope, depth - 1) for choice in choices(device))
    if isinstance(device, ast.JoinedStr):
        return bool(device.values) and is_cuda_device(facts, device.values[0], scope, depth - 1)
    if isinstance(device, ast.BinOp):
        return is_cuda_device(facts, device.left, scope, depth - 1)
    if isinstance(device, ast.Call):
        is_device = facts.names(device.func, scope).only == "torch.device"
        return is_device and bool(device.args) and is_cuda_device(facts, device.args[0], scope, depth - 1)
    if isinstance(device, ast.Constant):
        return isinstance(device.value, str) and device.value.startswith("cuda")
    return any(is_cuda_device(facts, value, where, depth - 1) for value, where in _values(facts, device, scope))


def _values(facts: FileFacts, device: ast.expr, scope: int) -> list[tuple[ast.expr, int]]:
    if isinstance(device, ast.Name):
        found = [b for b in reaching(facts, device.id, scope, device.lineno) if _gives(b)]
        return [(b.value, b.scope) for b in found if b.value is not None]
    kept = attribute_values(facts, device, scope)
    if kept is None and isinstance(device, ast.Attribute):
        return [(ast.Constant(default), scope) for default in option_defaults(facts, device.attr)]
    return kept or []


def _gives(binding: Binding) -> bool:
    return binding.kind in (BindingKind.ASSIGN, BindingKind.PARAMETER)


def _is_moved(facts: FileFacts, thing: ast.Name | ast.Attribute, scope: int) -> bool:
    """Whether a statement by itself, `model.cuda()`, moves a module, above in the same function; none moves it off."""
    sites = [s for s in facts.once(_moves).get(ast.unparse(thing), ()) if _is_same(facts, thing, scope, s)]
    above = [site for site in sites if may_follow(facts, site.node, thing)]
    return bool(above) and all(moves_to_cuda(facts, site.node, site.scope) for site in sites)


def _is_same(facts: FileFacts, thing: ast.Name | ast.Attribute, scope: int, site: CallSite) -> bool:
    if isinstance(thing, ast.Name):
        return facts.resolver.owner(thing.id, scope) is facts.resolver.owner(thing.id, site.scope)
    return facts.class_of(scope) == facts.class_of(site.scope)


def _moves(facts: FileFacts) -> dict[str, list[CallSite]]:
    """The statements that move something, to wherever, by what they move."""
    found: dict[str, list[CallSite]] = {}
    for site in _standing_alone(facts):
        receiver = site.node.func.value  # type: ignore[attr-defined]
        if isinstance(receiver, ast.Name | ast.Attribute) and not _is_conversion(facts, site):
            found.setdefault(ast.unparse(receiver), []).append(site)
    return found


def _is_conversion(facts: FileFacts, site: CallSite) -> bool:
    """`model.to(torch.half)` moves nothing."""
    given = site.node.args[:1]
    return bool(given) and _is_type(facts, given[0], site.scope)


def _is_type(facts: FileFacts, expression: ast.expr, scope: int) -> bool:
    is_named = isinstance(expression, ast.Attribute)
    return is_named and (facts.names(expression, scope).only or "").startswith("torch.")


def _standing_alone(facts: FileFacts) -> Iterator[CallSite]:
    for site in facts.reading.calls:
        is_alone = isinstance(site.statement, ast.Expr) and site.statement.value is site.node
        if is_alone and isinstance(site.node.func, ast.Attribute) and site.node.func.attr in ("cuda", "to", "cpu"):
            yield site
