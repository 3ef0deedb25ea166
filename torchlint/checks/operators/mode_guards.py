"""Code that runs only while the determinism mode is on, because it asks for the mode itself."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlint.facts.control.blocks import lines_of
from torchlint.facts.control.conditions import governed
from torchlint.facts.reaching import reaching
from torchlint.facts.scopes import BindingKind

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_ASKING = "torch.are_deterministic_algorithms_enabled"


def guarded_lines(facts: FileFacts) -> list[tuple[int, int]]:
    """The spans of lines (both ends included) that run only under the mode."""
    spans = []
    for statement, scope in facts.reading.scope_of.items():
        answer = _asks(facts, statement.test, scope) if isinstance(statement, ast.If) else None
        if isinstance(statement, ast.If) and answer is not None:
            spans += [lines_of(run) for run in governed(facts, statement, answer=answer)]
    return spans


def _asks(facts: FileFacts, test: ast.expr | None, scope: int) -> bool | None:
    """Whether a test holds under the mode only (True), without it only (False), or asks for something else."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _asks(facts, test.operand, scope)
        return None if inner is None else not inner
    if isinstance(test, ast.Name):
        bound = reaching(facts, test.id, scope, test.lineno)
        only = bound[0] if len(bound) == 1 and bound[0].kind is BindingKind.ASSIGN else None
        is_other_name = only is not None and not isinstance(only.value, ast.Name)
        return _asks(facts, only.value, only.scope) if only is not None and is_other_name else None
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return True if any(_asks(facts, part, scope) for part in test.values) else None
    is_question = isinstance(test, ast.Call) and facts.names(test.func, scope).only == _ASKING
    return True if is_question else None
