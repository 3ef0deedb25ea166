"""What becomes of memory that nothing has written: whether straight-line code evidently reads it first.

A value is followed from the call that makes it, as a local name, through the statements of its block. Branches, loops
and inner functions that do more with it than ask for its shape end the way.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlint.checks.memory.uninitialised.uses import Fate, Use, use_of
from torchlint.facts.control.order import straight_after
from torchlint.facts.scopes import ScopeKind

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts


def fate_of(facts: FileFacts, value: ast.expr, statement: ast.stmt, scope: int) -> Use:
    """What first happens to the memory of `value`, which `statement` makes."""
    use = use_of(facts, value, statement, scope)
    if use.fate is not Fate.KEPT:
        return use
    assert isinstance(use.node, ast.Name)
    if not _is_local(facts, use.node.id, scope):
        return Use(Fate.LOST, use.node)
    return _after(facts, use.node.id, statement, scope)


def _is_local(facts: FileFacts, name: str, scope: int) -> bool:
    """Whether nothing but the statements of this scope sees the name."""
    scopes = facts.reading.scopes
    if scopes[scope].kind not in (ScopeKind.FUNCTION, ScopeKind.MODULE) or name in scopes[scope].outer:
        return False
    inner = [s for s in scopes if s.index != scope and s.kind is not ScopeKind.COMPREHENSION]
    inner = [s for s in inner if scope in facts.around(s.index)]
    return not any(isinstance(node, ast.Name) and node.id == name for s in inner for node in ast.walk(s.node))


def _after(facts: FileFacts, name: str, statement: ast.stmt, scope: int) -> Use:
    """The first use of a name below a statement, in the same run of statements."""
    for following in straight_after(facts, statement):
        use = _use_in(facts, name, following, scope)
        if use is not None:
            return use
    return Use(Fate.LOST, statement)


def _use_in(facts: FileFacts, name: str, statement: ast.stmt, scope: int) -> Use | None:
    """What a statement does with a name; None when it does nothing that counts, so that the next one is asked."""
    own = _named(facts, statement, name)
    uses = [use_of(facts, node, statement, scope) for node in own if isinstance(node.ctx, ast.Load)]
    telling = [use for use in uses if use.fate is not Fate.UNTOUCHED]
    lost = next((use for use in telling if use.fate in (Fate.LOST, Fate.KEPT)), None)
    if lost is not None:
        # `x = x.cuda()` goes on as `x`; by another name it is not followed.
        is_same = lost.fate is Fate.KEPT and isinstance(lost.node, ast.Name) and lost.node.id == name
        return None if is_same and len(telling) == 1 else Use(Fate.LOST, lost.node)
    if telling:
        return telling[0]
    if len(own) > len(uses):
        return Use(Fate.LOST, statement)  # bound anew, or deleted
    is_open = isinstance(statement, ast.With | ast.AsyncWith)  # its body comes next
    return None if is_open or _only_asks(facts, name, statement, scope) else Use(Fate.LOST, statement)


def _only_asks(facts: FileFacts, name: str, statement: ast.stmt, scope: int) -> bool:
    """Whether what a branch or loop does with a name, if anything, is to ask for its shape."""
    inner = [node for node in ast.walk(statement) if isinstance(node, ast.stmt) and node is not statement]
    return all(
        isinstance(node.ctx, ast.Load) and use_of(facts, node, holder, scope).fate is Fate.UNTOUCHED
        for holder in inner
        for node in _named(facts, holder, name)
    )


def _named(facts: FileFacts, statement: ast.stmt, name: str) -> list[ast.Name]:
    return [node for node in facts.index.within(statement) if isinstance(node, ast.Name) and node.id == name]
