"""Whether an operator is steady where it stands: on the CPU, behind a question for the mode, with a chosen kernel."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from torchlint.catalogue.registry import Surroundings
from torchlint.checks.framework.conditions import Answer, holds
from torchlint.checks.operators.kernels.atomics import adds_alone
from torchlint.checks.operators.mode_guards import guarded_lines
from torchlint.checks.operators.operator_conditions import input_of, stored_by
from torchlint.checks.operators.operator_matches import Match
from torchlint.facts.file import FileFacts
from torchlint.facts.tensors.devices import is_on_cpu


@dataclass(frozen=True, slots=True)
class _Context:
    """`with manager(...):` and the lines of its body."""

    manager: ast.Call
    scope: int
    first: int
    last: int


def is_steadied(facts: FileFacts, match: Match, scope: int) -> bool:
    """Whether the operator does not vary here because of what stands around it, or where its tensors lie."""
    operator, line = match.operator, match.use.lineno
    if not any(row.device in ("cpu", "*") for row in operator.row) and _runs_on_cpu(facts, match, scope):
        return True
    if isinstance(match.use, ast.Call) and adds_alone(facts, match.use):
        return True
    if any(first <= line <= last for first, last in facts.once(guarded_lines)):
        return True
    return any(
        context.first <= line <= context.last and _is_such(facts, context, surroundings)
        for surroundings in operator.unless_within
        for context in facts.once(_contexts)
    )


def _runs_on_cpu(facts: FileFacts, match: Match, scope: int) -> bool:
    operands = (input_of(match.use, match.spelling), stored_by(facts, match.use, match.spelling))
    return any(is_on_cpu(facts, operand, scope) for operand in operands)


def _contexts(facts: FileFacts) -> list[_Context]:
    return [
        _Context(item.context_expr, facts.reading.scope_of[statement], statement.lineno, statement.end_lineno or 0)
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
