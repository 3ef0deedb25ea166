"""Whether an operator is steady where it stands: on the CPU, behind a question for the mode, with a chosen kernel."""

from __future__ import annotations

import ast

from torchlint.catalogue.registry import Surroundings
from torchlint.checks.framework.conditions import Answer, holds
from torchlint.checks.operators.kernels.atomics import adds_alone
from torchlint.checks.operators.mode_guards import runs_under_mode
from torchlint.checks.operators.operator_conditions import input_of, stored_by
from torchlint.checks.operators.operator_matches import Match
from torchlint.facts.control.conditions import managers_around
from torchlint.facts.file import FileFacts
from torchlint.facts.tensors.devices import is_on_cpu


def is_steadied(facts: FileFacts, match: Match, statement: ast.stmt, scope: int) -> bool:
    """Whether the operator does not vary here because of what stands around it, or where its tensors lie."""
    operator = match.operator
    if not any(row.device in ("cpu", "*") for row in operator.row) and _runs_on_cpu(facts, match, scope):
        return True
    if isinstance(match.use, ast.Call) and adds_alone(facts, match.use, statement):
        return True
    return runs_under_mode(facts, statement) or any(
        isinstance(manager, ast.Call) and _is_such(facts, manager, facts.symbols.scope_of[statement], surroundings)
        for surroundings in operator.unless_within
        for manager in managers_around(facts, statement)
    )


def _runs_on_cpu(facts: FileFacts, match: Match, scope: int) -> bool:
    operands = (input_of(match.use, match.spelling), stored_by(facts, match.use, match.spelling))
    return any(is_on_cpu(facts, operand, scope) for operand in operands)


def _is_such(facts: FileFacts, manager: ast.Call, scope: int, surroundings: Surroundings) -> bool:
    found = facts.names(manager.func, scope)
    return found.only == surroundings.call and all(
        holds(facts, manager, callee, surroundings.where, scope) is Answer.YES for callee in found.callees
    )
