"""Atomic additions that no other program comes across."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from torchlint.facts.control.conditions import decisions
from torchlint.facts.tree import is_method_call

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts


def adds_alone(facts: FileFacts, call: ast.Call, statement: ast.stmt) -> bool:
    """Whether the other branch of an `if` adds to the same place by a load and a store: then nobody else is there."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "atomic_add" or not call.args:
        return False
    place = ast.dump(call.args[0])
    return any({"load", "store"} <= _touching(other, place) for other in _other_branches(facts, statement))


def _other_branches(facts: FileFacts, statement: ast.stmt) -> Iterator[Sequence[ast.stmt]]:
    for decision, answer in decisions(facts, statement):
        yield decision.orelse if answer else decision.body


def _touching(branch: Sequence[ast.stmt], place: str) -> set[str]:
    """What is called on a place: `load`, `store`."""
    return {
        node.func.attr
        for statement in branch
        for node in ast.walk(statement)
        if is_method_call(node) and node.args
        if ast.dump(node.args[0]) == place
    }
