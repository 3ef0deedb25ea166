"""Which statements of a function may run in the same pass, and under which conditions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.facts.context import enclosing

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_OPPOSITES = {ast.IsNot: ast.Is, ast.NotEq: ast.Eq, ast.NotIn: ast.In}


def conditions_on(facts: FileFacts, statement: ast.stmt) -> dict[str, bool]:
    """The tests of the `if` statements around a statement, `not x` written as `x`, and the answers by which it runs."""
    found: dict[str, bool] = {}
    for outer, inner in steps_out(facts, statement):
        if isinstance(outer, ast.If):
            test, is_negated = _without_negation(outer.test)
            found.setdefault(ast.unparse(test), (inner in outer.body) != is_negated)
    return found


def exclude_each_other(facts: FileFacts, one: ast.stmt, other: ast.stmt) -> bool:
    """Whether two statements never run in the same pass: they need different answers, or arms of one `match`."""
    first, second = conditions_on(facts, one), conditions_on(facts, other)
    if any(first[test] != second[test] for test in first.keys() & second.keys()):
        return True
    arms = dict(_arms(facts, one))
    return any(arms.get(match, arm) is not arm for match, arm in _arms(facts, other))


def _arms(facts: FileFacts, statement: ast.stmt) -> Iterator[tuple[ast.Match, ast.match_case]]:
    for outer, inner in steps_out(facts, statement):
        if isinstance(outer, ast.Match):
            yield from ((outer, case) for case in outer.cases if inner in case.body)


def steps_out(facts: FileFacts, statement: ast.stmt) -> Iterator[tuple[ast.stmt, ast.stmt]]:
    """Each statement around, with the one directly in it on the way inwards."""
    inner = statement
    for outer in enclosing(facts, statement):
        yield outer, inner
        inner = outer


def _without_negation(test: ast.expr) -> tuple[ast.expr, bool]:
    is_negated = False
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, is_negated = test.operand, not is_negated
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in _OPPOSITES:
        test = ast.Compare(test.left, [_OPPOSITES[type(test.ops[0])]()], test.comparators)
        is_negated = not is_negated
    return test, is_negated
