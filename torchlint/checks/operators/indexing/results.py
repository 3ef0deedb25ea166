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
    target = parent.targets[0] if isinstance(parent, ast.Assign) else None
    if isinstance(target, ast.Tuple) and len(target.elts) == 2:
        second = target.elts[1]
        return not (isinstance(second, ast.Name) and second.id.startswith("_"))
    if isinstance(target, ast.Name):
        return _by_name(facts, target)
    return False if isinstance(parent, ast.Expr) else _takes_indices(parent)


def _takes_indices(part: ast.AST | None) -> bool | None:
    """Whether `x.values`, `x.indices` or `x[1]` is the second result; None for what takes no part."""
    if isinstance(part, ast.Attribute):
        return {"values": False, "indices": True}.get(part.attr)
    return _PLACES.get(ast.unparse(part.slice)) if isinstance(part, ast.Subscript) else None


def is_used(facts: FileFacts, call: ast.Call) -> bool:
    """Whether something is made of what a call returns: it is no statement of its own, and has a name that is read."""
    parent = facts.index.parents.get(call)
    if not isinstance(parent, ast.Assign) or not isinstance(parent.targets[0], ast.Name):
        return not isinstance(parent, ast.Expr)
    return bool(facts.index.reads_of(parent.targets[0]))


def _by_name(facts: FileFacts, target: ast.Name) -> bool | None:
    """Whether the file reads `name.indices` or `name[1]`; None where it also does something else with the name."""
    parts = [_takes_indices(facts.index.parents[read]) for read in facts.index.reads_of(target)]
    if True in parts:
        return True
    return None if None in parts or not parts else False
