"""Assignments to the flags of cuDNN, and which of them contradict each other."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import msgspec

from torchlint.facts.control.order import dominates

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

BENCHMARK = "torch.backends.cudnn.benchmark"
DETERMINISTIC = "torch.backends.cudnn.deterministic"


class FlagWrite(msgspec.Struct, frozen=True):
    """One assignment to a flag; `value` is None when it is no literal."""

    name: str
    value: bool | None
    statement: ast.stmt
    function: int | None


def flag_writes(facts: FileFacts) -> list[FlagWrite]:
    """All assignments to the two flags, in source order."""
    return facts.cached(_writes)


def _writes(facts: FileFacts) -> list[FlagWrite]:
    found = []
    for assignment in facts.symbols.assignments:
        target = assignment.target
        if not isinstance(target, ast.Attribute) or target.attr not in ("benchmark", "deterministic"):
            continue
        name = facts.names(target, assignment.scope).only
        if name in (BENCHMARK, DETERMINISTIC):
            known = facts.value(assignment.value, assignment.scope).only(bool)
            found.append(FlagWrite(name, known, assignment.statement, facts.function_of(assignment.scope)))
    return found


def contradicting(facts: FileFacts, statement: ast.stmt) -> FlagWrite | None:
    """For the statement that turns `benchmark` on: the write that has `deterministic` on at the same time.

    Both stand in one function, one of them in a block that holds the other, and neither is written again there.
    """
    writes = flag_writes(facts)
    own = next((w for w in writes if w.statement is statement and w.name == BENCHMARK and w.value is True), None)
    if own is None:
        return None
    here = [write for write in writes if write.function == own.function]
    others = [write for write in here if write.name == DETERMINISTIC]
    if len(others) != 1 or sum(write.name == BENCHMARK for write in here) != 1 or others[0].value is not True:
        return None
    other = others[0].statement
    is_one_path = statement is other or dominates(facts, statement, other) or dominates(facts, other, statement)
    return others[0] if is_one_path else None
