"""Whether code stands where an operator is steady: after asking for the mode, or in a context that picks a kernel."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from torchlint.catalogue.registry import Operator, Surroundings
from torchlint.checks.conditions import Answer, holds
from torchlint.facts.file import FileFacts
from torchlint.facts.mode_guards import guarded_lines


@dataclass(frozen=True, slots=True)
class _Context:
    """`with manager(...):` and the lines of its body."""

    manager: ast.Call
    scope: int
    first: int
    last: int


def is_steadied(facts: FileFacts, operator: Operator, line: int) -> bool:
    """Whether the operator, used on this line, does not vary because of what stands around it."""
    if any(first <= line <= last for first, last in facts.once(guarded_lines)):
        return True
    return any(
        context.first <= line <= context.last and _is_such(facts, context, surroundings)
        for surroundings in operator.unless_within
        for context in facts.once(_contexts)
    )


def _contexts(facts: FileFacts) -> list[_Context]:
    return [
        _Context(item.context_expr, facts.reading.cursors[statement].scope, statement.lineno, statement.end_lineno or 0)
        for statement in facts.reading.parents
        if isinstance(statement, ast.With | ast.AsyncWith)
        for item in statement.items
        if isinstance(item.context_expr, ast.Call)
    ]


def _is_such(facts: FileFacts, context: _Context, surroundings: Surroundings) -> bool:
    found = facts.names(context.manager.func, context.scope)
    return found.only == surroundings.call and all(
        holds(facts, context.manager, callee, surroundings.where, context.scope) is Answer.YES
        for callee in found.callees
    )
