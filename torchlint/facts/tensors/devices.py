"""Tensors that evidently lie in the memory of the CPU, so that what is done with them runs there."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlint.facts.reaching import reaching
from torchlint.facts.remembering import remembered
from torchlint.facts.scopes import BindingKind
from torchlint.facts.tensors.methods import method_named

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_GIVEN = (BindingKind.ASSIGN, BindingKind.PART, BindingKind.ELEMENT)
_MOVING = frozenset({"xpu", "mps", "to_device"})
"""Methods that are not everywhere, or not torch's, and lead to another device."""


@remembered
def is_on_cpu(facts: FileFacts, expression: ast.expr | None, scope: int, depth: int = 8) -> bool:
    """Whether a tensor is `x.cpu()`, `x.to("cpu")` or `torch.from_numpy(x)`, or made of one by its methods."""
    if expression is None or depth == 0:
        return False
    if isinstance(expression, ast.Name):
        bound = reaching(facts, expression.id, scope, expression.lineno)
        return bool(bound) and all(b.kind in _GIVEN and is_on_cpu(facts, b.value, b.scope, depth - 1) for b in bound)
    if isinstance(expression, ast.Subscript):
        return is_on_cpu(facts, expression.value, scope, depth - 1)
    if isinstance(expression, ast.BinOp):
        return any(is_on_cpu(facts, side, scope, depth - 1) for side in (expression.left, expression.right))
    return isinstance(expression, ast.Call) and _is_call_on_cpu(facts, expression, scope, depth)


def _is_call_on_cpu(facts: FileFacts, call: ast.Call, scope: int, depth: int) -> bool:
    if facts.names(call.func, scope).only == "torch.from_numpy":
        return True
    if not isinstance(call.func, ast.Attribute):
        return False
    if call.func.attr == "cpu" and not call.args:
        return True
    if call.func.attr == "to" and call.args:
        return _is_cpu(facts, call.args[0], scope)
    stays = call.func.attr not in _MOVING and method_named(call.func.attr).stays
    return stays and is_on_cpu(facts, call.func.value, scope, depth - 1)


def _is_cpu(facts: FileFacts, device: ast.expr, scope: int) -> bool:
    """`"cpu"`, `torch.device("cpu")`."""
    if isinstance(device, ast.Call) and facts.names(device.func, scope).only == "torch.device" and device.args:
        device = device.args[0]
    return facts.value(device, scope).constants == ("cpu",)
