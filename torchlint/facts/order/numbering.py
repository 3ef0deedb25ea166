"""Numbers that a loop hands out only to find again what it keeps under them: whichever order, each finds its own."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts


def only_finds_again(facts: FileFacts, mapping: ast.expr, loop: ast.For | ast.AsyncFor, scope: int) -> bool:
    """Whether `number_of[key] = i` serves `kept[number_of[key]]` alone, where every round adds one entry to `kept`."""
    if not isinstance(mapping, ast.Name):
        return False
    kept, numbers = _kept_each_round(loop), mapping.id
    owner = facts.resolver.owner(numbers, scope)
    if owner is None or not kept:
        return False
    reads, parents = facts.index.reads(owner.index, numbers), facts.index.parents
    found_again = [_finds_again(node, parents, kept) for node in reads]
    return any(found_again) and all(
        again or _looks_at_keys(node, parents) for again, node in zip(found_again, reads, strict=True)
    )


def only_spells(facts: FileFacts, made: ast.expr) -> bool:
    """Whether `number_of = dict(zip(words, range(9)))` serves `chr(number_of[word])` alone: any letter will do."""
    assign = facts.index.parents[made]
    target = assign.targets[0] if isinstance(assign, ast.Assign) else None
    reads = facts.index.reads_of(target) if isinstance(target, ast.Name) else []
    parents = facts.index.parents
    spelled = [parents[parents[read]] for read in reads]
    return bool(reads) and all(isinstance(one, ast.Call) and getattr(one.func, "id", "") == "chr" for one in spelled)


def _kept_each_round(loop: ast.For | ast.AsyncFor) -> frozenset[str]:
    """The lists to which each round of a loop adds one entry, so that the number of the round is its place."""
    inside = list(ast.walk(loop))
    if any(isinstance(node, ast.Continue) for node in inside):
        return frozenset()
    added = [name for node in inside if (name := _appended_to(node)) is not None]
    every_round = [name for node in loop.body if (name := _appended_to(node)) is not None]
    return frozenset(name for name in every_round if added.count(name) == 1)


def _appended_to(node: ast.AST) -> str | None:
    """The name of the list in the statement `kept.append(entry)`."""
    function = node.value.func if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else None
    if isinstance(function, ast.Attribute) and function.attr == "append" and isinstance(function.value, ast.Name):
        return function.value.id
    return None


def _finds_again(read: ast.AST, parents: Mapping[ast.AST, ast.AST], kept: frozenset[str]) -> bool:
    """Whether a read of the numbers is the one in `kept[number_of[key]]`."""
    number = parents.get(read)
    entry = parents.get(number) if isinstance(number, ast.Subscript) and number.value is read else None
    return (
        isinstance(entry, ast.Subscript)
        and entry.slice is number
        and isinstance(entry.value, ast.Name)
        and entry.value.id in kept
    )


def _looks_at_keys(read: ast.AST, parents: Mapping[ast.AST, ast.AST]) -> bool:
    """Whether a read sets a number, or asks for the keys: `number_of[key] = i`, `key in number_of.keys()`."""
    above = parents.get(read)
    if isinstance(above, ast.Subscript):
        return above.value is read and isinstance(above.ctx, ast.Store)
    if isinstance(above, ast.Attribute) and above.attr == "setdefault":
        return True
    if isinstance(above, ast.Attribute) and above.attr == "keys":
        read = parents[above]
        above = parents.get(read)
    if isinstance(above, ast.Compare):
        return read is not above.left and all(isinstance(operator, ast.In | ast.NotIn) for operator in above.ops)
    return isinstance(above, ast.For | ast.AsyncFor)
