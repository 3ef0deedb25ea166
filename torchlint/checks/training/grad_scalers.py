"""Whether an object is a gradient scaler of torch, as far as its file shows."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlint.facts.definitions import seen_values
from torchlint.facts.values import argument_of

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

SCALERS = frozenset(
    {
        *(f"torch{home}.GradScaler" for home in ("", ".amp", ".amp.grad_scaler", ".cpu.amp")),
        *(f"torch.cuda.amp.{home}GradScaler" for home in ("", "grad_scaler.")),
        "torch.distributed.fsdp.sharded_grad_scaler.ShardedGradScaler",
    }
)
_Made = list[tuple[ast.expr, int]]


def is_known_scaler(facts: FileFacts, expression: ast.expr, scope: int) -> bool:
    """Whether it is made as one somewhere, or annotated as one."""
    return any(_is_made(facts, value, where) for value, where in seen_values(facts, expression, scope)) or any(
        _names_scaler(facts, annotation, where) for annotation, where in _annotations(facts, expression, scope)
    )


def is_no_scaler(facts: FileFacts, expression: ast.expr, scope: int) -> bool:
    """Whether it is evidently something of this project, or a scaler that is always off."""
    values = seen_values(facts, expression, scope)
    made = [(value, where) for value, where in values if isinstance(value, ast.Call)]
    if made and all("::" in (facts.names(call.func, where).only or "") for call, where in made):
        return True
    return bool(made) and all(_is_off(facts, call, where) for call, where in made)


def _is_off(facts: FileFacts, call: ast.Call, scope: int) -> bool:
    """`GradScaler(enabled=False)`."""
    return facts.value(argument_of(call, "enabled", None), scope).only(bool) is False


def _is_made(facts: FileFacts, value: ast.expr, scope: int) -> bool:
    return isinstance(value, ast.Call) and bool(facts.names(value.func, scope).names & SCALERS)


def _annotations(facts: FileFacts, expression: ast.expr, scope: int) -> _Made:
    bindings = facts.bindings(expression, scope)
    return [(binding.annotation, binding.scope) for binding in bindings if binding.annotation is not None]


def _names_scaler(facts: FileFacts, annotation: ast.expr, scope: int) -> bool:
    """`GradScaler`, `Optional[GradScaler]`, `GradScaler | None`."""
    parts = [node for node in ast.walk(annotation) if isinstance(node, ast.Name | ast.Attribute)]
    return any(facts.names(part, scope).only in SCALERS for part in parts)
