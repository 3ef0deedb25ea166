"""Statements by the blocks they stand in: what is around them, beside them and in them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from torchlint.facts.memoizing import memoized

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

Function = ast.FunctionDef | ast.AsyncFunctionDef
Loop = ast.For | ast.AsyncFor | ast.While

_BLOCKS = ("body", "handlers", "orelse", "finalbody", "cases")  # of statements, or of what holds some


def blocks_of(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The runs of statements that a compound statement, a class, a function or a module holds, in source order."""
    for name in _BLOCKS:
        field = getattr(node, name, None)
        if isinstance(field, list) and field:  # `body` of a lambda is none
            yield from [field] if isinstance(field[0], ast.stmt) else (part.body for part in field)


def block_of(facts: FileFacts, statement: ast.stmt) -> list[ast.stmt]:
    """The run of statements that a statement stands in."""
    return _blocks_in(facts, facts.symbols.parents[statement] or facts.tree)[statement]


@memoized
def _blocks_in(facts: FileFacts, holder: ast.AST) -> Mapping[ast.stmt, list[ast.stmt]]:  # noqa: ARG001
    return {statement: block for block in blocks_of(holder) for statement in block}


def preceding(facts: FileFacts, statement: ast.stmt) -> Sequence[ast.stmt]:
    """What stands above a statement in its block."""
    block = block_of(facts, statement)
    return block[: block.index(statement)]


def following(facts: FileFacts, statement: ast.stmt) -> Sequence[ast.stmt]:
    """What stands below a statement in its block."""
    block = block_of(facts, statement)
    return block[block.index(statement) + 1 :]


@memoized
def enclosing(facts: FileFacts, statement: ast.stmt) -> tuple[ast.stmt, ...]:
    """The statements around a statement, innermost first, up to and without the function it runs in.

    Kept as a whole: the last of a thousand `elif` stands in all that come before it.
    """
    outer = facts.symbols.parents[statement]
    return () if outer is None or isinstance(outer, Function) else (outer, *enclosing(facts, outer))


def loops_around(facts: FileFacts, statement: ast.stmt) -> Iterator[Loop]:
    """The loops whose rounds run a statement, innermost first, inside its function."""
    for current in (statement, *enclosing(facts, statement)):
        outer = facts.symbols.parents[current]
        if isinstance(outer, Loop) and block_of(facts, current) is outer.body:
            yield outer


def jumps(facts: FileFacts) -> dict[Loop, tuple[list[tuple[int, int]], list[tuple[int, int]]]]:
    """Where a loop is broken off, and where it goes on with its next round, in source order. For `facts.cached`."""
    found: dict[Loop, tuple[list[tuple[int, int]], list[tuple[int, int]]]] = {}
    for statement in facts.symbols.parents:
        loop = next(loops_around(facts, statement), None) if isinstance(statement, (ast.Break, ast.Continue)) else None
        if loop is not None:
            kinds = found.setdefault(loop, ([], []))
            kinds[isinstance(statement, ast.Continue)].append((statement.lineno, statement.col_offset))
    return found


def statements_in(statement: ast.stmt) -> Iterator[ast.stmt]:
    """A statement, then those in it, in source order; what functions and classes hold runs elsewhere."""
    yield statement
    if not isinstance(statement, (Function, ast.ClassDef)):
        for block in blocks_of(statement):
            for inner in block:
                yield from statements_in(inner)


def lines_of(run: Sequence[ast.stmt | ast.expr]) -> tuple[int, int]:
    """First and last line of what stands one after another."""
    return run[0].lineno, run[-1].end_lineno or run[-1].lineno
