"""Which of a name's bindings may hold where it is read: the usual "reaching definitions", over blocks of lines."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.facts.remembering import remembered
from torchlint.facts.scopes import Binding, BindingKind

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_HEADED = (ast.For, ast.AsyncFor, ast.With, ast.AsyncWith)


@remembered
def reaching(facts: FileFacts, name: str, scope: int, line: int) -> list[Binding]:
    """The bindings of `name` that may give its value on `line`; all of them where their order is not known.

    An augmented assignment (`x += y`) changes a value and keeps what it is, so it counts only where it stands alone.
    """
    owner = facts.resolver.owner(name, scope)
    if owner is None:
        return []
    found = [b for b in owner.bindings[name] if not isinstance(b.statement, ast.AugAssign)]
    if len(found) < 2 or facts.function_of(scope) != facts.function_of(owner.index):
        return found or list(owner.bindings[name])
    settling = [binding for binding in found if _settles(facts, binding, line)]
    if not settling:
        return found
    last = max(settling, key=_line)
    between = [b for b in found if _line(last) < _line(b) < line and b not in settling and not _is_at(b, line)]
    return [last, *between, *_from_the_round_before(facts, found, last, line)]


def _line(binding: Binding) -> int:
    return 0 if binding.statement is None or _is_parameter(binding) else binding.statement.lineno


def _is_parameter(binding: Binding) -> bool:
    return binding.kind is BindingKind.PARAMETER or isinstance(binding.statement, ast.FunctionDef)


def _is_at(binding: Binding, line: int) -> bool:
    """Whether `line` is part of the binding itself: in `x = f(x)` the inner `x` is the one before."""
    statement = binding.statement
    if statement is None or isinstance(statement, _HEADED):
        return False
    return statement.lineno <= line <= (statement.end_lineno or statement.lineno)


def _settles(facts: FileFacts, binding: Binding, line: int) -> bool:
    """Whether this binding has run whenever `line` runs: it stands above, in a block that holds the line."""
    statement = binding.statement
    if statement is None or _is_parameter(binding):
        return True
    if isinstance(statement, _HEADED):
        return statement.body[0].lineno <= line <= (statement.body[-1].end_lineno or line)
    if (statement.end_lineno or statement.lineno) >= line:
        return False
    block = block_of(facts, statement)
    return block[0].lineno <= line <= (block[-1].end_lineno or block[-1].lineno)


def block_of(facts: FileFacts, statement: ast.stmt) -> list[ast.stmt]:
    """The run of statements that a statement stands in."""
    parent: ast.AST = facts.reading.parents[statement] or facts.tree
    for holder in (parent, *getattr(parent, "handlers", ()), *getattr(parent, "cases", ())):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(holder, field, None)
            if isinstance(block, list) and statement in block:
                return block
    return [statement]


def _from_the_round_before(facts: FileFacts, found: list[Binding], last: Binding, line: int) -> Iterator[Binding]:
    """Bindings below the line, in a loop around it that began after the last sure binding."""
    loops = [
        loop
        for loop in facts.once(_loops)
        if _line(last) < loop.lineno <= line <= (loop.end_lineno or line) and not _binds(last, loop)
    ]
    for binding in found:
        place = _line(binding)
        if place >= line and any(loop.lineno <= place <= (loop.end_lineno or place) for loop in loops):
            yield binding


def _binds(binding: Binding, loop: ast.stmt) -> bool:
    return binding.statement is loop


def _loops(facts: FileFacts) -> list[ast.stmt]:
    return [statement for statement in facts.reading.parents if isinstance(statement, _LOOPS)]
