"""Code that runs only while the determinism mode is on, because it asks for the mode itself."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlint.facts.control.conditions import decisions
from torchlint.facts.definitions import only_value

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_ASKING = "torch.are_deterministic_algorithms_enabled"


def runs_under_mode(facts: FileFacts, statement: ast.stmt) -> bool:
    """Whether a statement runs only under the mode."""
    return any(
        _asks(facts, decision.test, facts.symbols.scope_of[decision]) is answer
        for decision, answer in decisions(facts, statement)
    )


def _asks(facts: FileFacts, test: ast.expr | None, scope: int) -> bool | None:
    """Whether a test holds under the mode only (True), without it only (False), or asks for something else."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _asks(facts, test.operand, scope)
        return None if inner is None else not inner
    if isinstance(test, ast.Name):
        value, where = only_value(facts, test, scope)
        return _asks(facts, value, where)
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return True if any(_asks(facts, part, scope) for part in test.values) else None
    is_question = isinstance(test, ast.Call) and facts.names(test.func, scope).only == _ASKING
    return True if is_question else None
