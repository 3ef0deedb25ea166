"""What becomes of a call's result: whether it is used, or the indices among several results are."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlint.facts.tree import last_word

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_ONLY_INDICES = ("argsort",)
_PLACES = {"0": False, "1": True, "-1": True, "-2": False}


def uses_indices(facts: FileFacts, call: ast.Call) -> bool | None:
    """Whether the second result of `x.median(1)`, `x.topk(3)` ... is used; None where the code does not show it."""
    name = last_word(call.func)
    if name in _ONLY_INDICES:
        return True
    parent = facts.index.parents.get(call)
    if isinstance(parent, ast.Attribute):
        return {"values": False, "indices": True}.get(parent.attr)
    if isinstance(parent, ast.Subscript):
        return _PLACES.get(ast.unparse(parent.slice))
    if isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Tuple) and len(parent.targets[0].elts) == 2:
        second = parent.targets[0].elts[1]
        return not (isinstance(second, ast.Name) and second.id.startswith("_"))
    if isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name):
        return _by_name(facts, parent.targets[0])
    return False if isinstance(parent, ast.Expr) else None


def is_used(facts: FileFacts, call: ast.Call) -> bool:
    """Whether something is made of what a call returns: it is no statement of its own, and has a name that is read."""
    parent = facts.index.parents.get(call)
    if not isinstance(parent, ast.Assign) or not isinstance(parent.targets[0], ast.Name):
        return not isinstance(parent, ast.Expr)
    return bool(facts.index.reads_of(parent.targets[0]))


def _by_name(facts: FileFacts, target: ast.Name) -> bool | None:
    """Whether the file reads `name.indices` or `name[1]`; None where it also does something else with the name."""
    uses = [facts.index.parents[read] for read in facts.index.reads_of(target)]
    parts = [
        {"values": False, "indices": True}.get(holder.attr)
        if isinstance(holder, ast.Attribute)
        else _PLACES.get(ast.unparse(holder.slice))
        if isinstance(holder, ast.Subscript)
        else None
        for holder in uses
    ]
    if True in parts:
        return True
    return None if None in parts or not parts else False
