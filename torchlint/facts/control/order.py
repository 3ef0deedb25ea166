"""What has run before a statement, what may run after it, and what lies between two of them.

All is told of one function; what it calls, and exceptions that nothing in it catches, are left out.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from torchlint.facts.control.blocks import block_of, blocks_of, enclosing, following, loops_around, statements_in
from torchlint.facts.control.conditions import leaves, mutually_exclusive

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

Position = tuple[int, int]
"""Line and column, as `ast` counts them."""
_SWALLOWING = frozenset({"contextlib.suppress", "pytest.raises"})
"""What goes on behind its body even where that has raised."""


class Moment(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """When a statement runs inside its function, as plain data."""

    start: Position
    runs_before: tuple[tuple[Position, Position], ...]
    """The stretches of code that run only after it: where each begins, itself left out, and where it ends."""

    def dominates(self, other: Moment) -> bool:
        """Whether this one has run, or begun, whenever the other runs."""
        return any(begin < other.start <= end for begin, end in self.runs_before)


def moment_of(facts: FileFacts, statement: ast.stmt) -> Moment:
    stretches = [(start_of(statement), end_of(block_of(facts, statement)[-1]))]
    current = statement
    while (holder := facts.symbols.parents[current]) is not None and _is_on_every_way(facts, holder, current):
        stretches.append((end_of(holder), end_of(block_of(facts, holder)[-1])))
        current = holder
    return Moment(start_of(statement), tuple(stretches))


def dominates(facts: FileFacts, one: ast.stmt, other: ast.stmt) -> bool:
    """Whether one statement has run, or begun, whenever another of the same function runs."""
    return moment_of(facts, one).dominates(moment_of(facts, other))


def _is_on_every_way(facts: FileFacts, holder: ast.stmt, inner: ast.stmt) -> bool:
    """Whether what stands behind a compound statement runs only after the block of it that holds `inner`."""
    if isinstance(holder, ast.Try):
        is_tried = inner in holder.body or inner in holder.orelse
        is_left = all(leaves(facts, handler.body) for handler in holder.handlers)
        return inner in holder.finalbody or (is_tried and is_left)
    if isinstance(holder, ast.If):
        return leaves(facts, holder.orelse if block_of(facts, inner) is holder.body else holder.body)
    return isinstance(holder, (ast.With, ast.AsyncWith)) and not swallows(facts, holder)


def swallows(facts: FileFacts, statement: ast.With | ast.AsyncWith) -> bool:
    """Whether code goes on behind a `with` even where its body has raised."""
    managers = (getattr(item.context_expr, "func", item.context_expr) for item in statement.items)
    return any(facts.names(one, facts.symbols.scope_of[statement]).only in _SWALLOWING for one in managers)


def position_of(node: ast.AST) -> Position:
    """By which the nodes of straight-line code come one after another.

    What a node does is done at its end, a call after its arguments; a compound statement comes before what it holds.
    """
    assert isinstance(node, (ast.stmt, ast.expr))
    return start_of(node) if any(blocks_of(node)) else end_of(node)


def start_of(node: ast.stmt | ast.expr) -> Position:
    return node.lineno, node.col_offset


def end_of(node: ast.stmt | ast.expr) -> Position:
    return node.end_lineno or node.lineno, node.end_col_offset or node.col_offset


def precedes(facts: FileFacts, one: ast.stmt | ast.expr, other: ast.stmt | ast.expr) -> bool:
    """Whether one node of a function runs before another, in a pass that runs both."""
    statements = facts.index.statement_of(one), facts.index.statement_of(other)
    return position_of(one) < position_of(other) and not mutually_exclusive(facts, *statements)


def may_follow(facts: FileFacts, one: ast.stmt | ast.expr, other: ast.stmt | ast.expr) -> bool:
    """Whether the other node may run after the one: below it, in the next round of a loop, or in another function."""
    first, second = facts.index.statement_of(one), facts.index.statement_of(other)
    scopes = (facts.function_of(facts.symbols.scope_of[statement]) for statement in (first, second))
    if len(set(scopes)) > 1 or set(loops_around(facts, first)) & set(loops_around(facts, second)):
        return True
    return precedes(facts, one, other)


def run_after(facts: FileFacts, statement: ast.stmt) -> Iterator[ast.stmt]:
    """What may run after a statement in the same pass, in source order, up to the end of its function."""
    yield from (inner for inner in statements_in(statement) if inner is not statement)
    for current in (statement, *enclosing(facts, statement)):
        holder = facts.symbols.parents[current]
        other = [one for name in ("orelse", "finalbody") for one in getattr(holder, name, ())]
        for below in (*following(facts, current), *(one for one in other if one.lineno > current.lineno)):
            yield from (one for one in statements_in(below) if not mutually_exclusive(facts, statement, one))


def between(facts: FileFacts, first: ast.stmt, last: ast.stmt) -> list[ast.stmt] | None:
    """The statements that run from one to another which its block holds; not the headers around the last.

    None where the first one is not above, in a block around the last.
    """
    passed: list[ast.stmt] = []
    for current in (last, *enclosing(facts, last)):
        block = block_of(facts, current)
        above = block[: block.index(current)]
        if first in above:
            return [*above[above.index(first) + 1 :], *passed]
        passed = [*above, *passed]
    return None
