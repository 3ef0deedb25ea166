"""Which tests decide whether a statement runs, and which statements never run in the same pass."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, product
from typing import TYPE_CHECKING

from torchlint.facts.control.blocks import Loop, block_of, blocks_of, enclosing, following
from torchlint.facts.memoizing import memoized
from torchlint.facts.tree import names_in

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_MOST = 50
"""Tests around one place that count, innermost first: code of people never has as many."""

_OPPOSITES = {ast.IsNot: ast.Is, ast.NotEq: ast.Eq, ast.NotIn: ast.In}


def tests_around(facts: FileFacts, node: ast.stmt | ast.expr) -> Iterator[ast.expr]:
    """The tests that a node stands under in its function, innermost first: of `x if test else y`, `if`, `while`."""
    above = _tests_above(facts, node) if isinstance(node, ast.expr) else ()
    outer = enclosing(facts, facts.index.statement_of(node))
    tests = (one.test for one in outer if isinstance(one, (ast.If, ast.While)))
    return itertools.islice(itertools.chain(above, tests), _MOST)


def _tests_above(facts: FileFacts, node: ast.expr) -> tuple[ast.expr, ...]:
    """Those of an expression, inside its statement. The terms of a long sum lie in one another: each asks the next."""
    known, way = facts.cached(_known_tests), []
    for above, below in facts.index.ancestors(node):
        if below in known:
            break
        way.append((above, below))
    found = known.get(way[-1][0] if way else node, ())
    for above, below in reversed(way):
        if isinstance(above, ast.IfExp) and below is not above.test:
            found = (above.test, *found)[:_MOST]
        elif isinstance(above, ast.BoolOp):
            place = _places_in(facts, above)[below]
            found = (*above.values[max(place - _MOST, 0) : place], *found)[:_MOST]
        known[below] = found
    return found


def _known_tests(_facts: FileFacts) -> dict[ast.AST, tuple[ast.expr, ...]]:
    return {}


def managers_around(facts: FileFacts, statement: ast.stmt) -> Iterator[ast.expr]:
    """What the `with` statements around a statement enter, inside its function, innermost statement first."""
    for outer in enclosing(facts, statement):
        if isinstance(outer, (ast.With, ast.AsyncWith)):
            yield from (item.context_expr for item in outer.items)


def decisions(facts: FileFacts, statement: ast.stmt) -> Iterator[tuple[ast.If, bool]]:
    """Each `if` that lets a statement run, innermost first, with the answer by which it does.

    It stands around, or above with a branch that leaves: below `if x: return` all runs without `x`.
    """
    return itertools.islice(_decisions(facts, statement), _MOST)


def _decisions(facts: FileFacts, statement: ast.stmt) -> Iterator[tuple[ast.If, bool]]:
    for current in (statement, *enclosing(facts, statement)):
        outer = facts.symbols.parents[current]
        leaving, above = _leaving_in(facts, outer or facts.tree)[current]
        yield from reversed(leaving[max(above - _MOST, 0) : above])
        if isinstance(outer, ast.If):
            yield outer, block_of(facts, current) is outer.body


@memoized
def _places_in(facts: FileFacts, choice: ast.BoolOp) -> Mapping[ast.AST, int]:  # noqa: ARG001
    return {value: place for place, value in enumerate(choice.values)}


@memoized
def _leaving_in(facts: FileFacts, holder: ast.AST) -> Mapping[ast.stmt, tuple[list[tuple[ast.If, bool]], int]]:
    """For each statement in a holder the `if`s of its block that leave by one branch, and how many stand above it."""
    found: dict[ast.stmt, tuple[list[tuple[ast.If, bool]], int]] = {}
    for block in blocks_of(holder):
        leaving: list[tuple[ast.If, bool]] = []
        for statement in block:
            found[statement] = leaving, len(leaving)
            if isinstance(statement, ast.If):
                branches = [leaves(facts, branch) for branch in (statement.body, statement.orelse)]
                leaving += [(statement, branches[1])] if branches[0] != branches[1] else []
    return found


def governed(facts: FileFacts, decision: ast.If, *, answer: bool) -> Iterator[Sequence[ast.stmt]]:
    """What one answer of an `if` lets run: its branch, and the statements below where the other branch leaves."""
    own, other = (decision.body, decision.orelse) if answer else (decision.orelse, decision.body)
    yield from (run for run in (own, following(facts, decision) if leaves(facts, other) else ()) if run)


def leaves(facts: FileFacts, block: Sequence[ast.stmt]) -> bool:
    """Whether nothing runs behind a block: it returns, raises, or goes on with another round."""
    return bool(block) and bool(_exits(facts, block[-1]))


@memoized
def _exits(facts: FileFacts, last: ast.stmt) -> frozenset[type[ast.stmt]]:
    """The kinds of statements by which a block leaves that ends so; none where code behind it may run."""
    if isinstance(last, ast.If):
        branches = [_exits(facts, branch[-1]) for branch in (last.body, last.orelse) if branch]
        return frozenset().union(*branches) if len(branches) > 1 and all(branches) else frozenset()
    if isinstance(last, (ast.With, ast.AsyncWith)):
        return _exits(facts, last.body[-1])
    return frozenset({type(last)} & {ast.Return, ast.Raise, ast.Continue, ast.Break})


@memoized
def conditions_on(facts: FileFacts, statement: ast.stmt) -> Mapping[str, bool]:
    """The tests that decide over a statement, `not x` written as `x`, and the answers by which it runs."""
    found: dict[str, bool] = {}
    for decision, answer in decisions(facts, statement):
        test, is_negated = without_negation(decision.test)
        found.setdefault(ast.unparse(test), answer != is_negated)
    return found


def unmet(facts: FileFacts, statement: ast.stmt, *others: ast.stmt) -> set[str]:
    """The tests that decide over a statement and that others of its function have not met when they run."""
    met = {one for other in others for one in conditions_on(facts, other).items()}
    return {test for test, answer in conditions_on(facts, statement).items() if (test, answer) not in met}


def without_negation(test: ast.expr) -> tuple[ast.expr, bool]:
    """A test without `not`, also that of `is not` or `!=`, and whether it had one."""
    is_negated = False
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, is_negated = test.operand, not is_negated
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in _OPPOSITES:
        test = ast.Compare(test.left, [_OPPOSITES[type(test.ops[0])]()], test.comparators)
        is_negated = not is_negated
    return test, is_negated


def mutually_exclusive(facts: FileFacts, one: ast.stmt, other: ast.stmt) -> bool:
    """Whether two statements of a function never run in the same pass.

    They need different answers of a test, stand in different arms of one statement, or one leaves before the other.
    """
    first, second = conditions_on(facts, one), conditions_on(facts, other)
    if any(first[test] != second[test] for test in first.keys() & second.keys()):
        return True
    parents = facts.symbols.parents
    ways = product((one, *enclosing(facts, one)), (other, *enclosing(facts, other)))
    fork = next((pair for pair in ways if parents[pair[0]] is parents[pair[1]] and pair[0] is not pair[1]), None)
    if fork is None:
        return False  # one holds the other, or both stand in functions of their own
    blocks = [block_of(facts, part) for part in fork]
    holder = parents[fork[0]]
    if blocks[0] is not blocks[1]:
        if isinstance(holder, ast.Try):
            return all(block is not holder.body and block is not holder.finalbody for block in blocks)
        return isinstance(holder, (ast.If, ast.Match))
    earlier, part = min(zip((one, other), fork, strict=True), key=lambda pair: (pair[1].lineno, pair[1].col_offset))
    return _leaves_within(facts, earlier, part)


def _leaves_within(facts: FileFacts, statement: ast.stmt, outermost: ast.stmt) -> bool:
    """Whether what runs a statement leaves before the end of another one, which is or holds it."""
    way = [statement, *enclosing(facts, statement)]
    is_caught = is_in_loop = False
    for holder, inner in pairwise(reversed(way[: way.index(outermost) + 1])):
        is_caught = is_caught or (isinstance(holder, ast.Try) and bool(holder.handlers) and inner in holder.body)
        is_in_loop = is_in_loop or (isinstance(holder, Loop) and inner in holder.body)
        stays = {*((ast.Raise,) if is_caught else ()), *((ast.Break, ast.Continue) if is_in_loop else ())}
        exits = _exits(facts, block_of(facts, inner)[-1])
        if exits and exits.isdisjoint(stays):
            return True
    return False


_RELEASE = re.compile(r"version|torch\w*\d|hasattr|getattr\(torch", re.IGNORECASE)
"""Words of tests for a release, or for what it has: `torch.__version__`, `TORCH_2_2`, `TORCH_GE_2_1`."""
_ABSENT = frozenset({"ImportError", "ModuleNotFoundError", "AttributeError", "Exception"})


def is_for_some_releases(facts: FileFacts, statement: ast.stmt) -> bool:
    """Whether code asks first whether a name exists: `hasattr(torch, ...)`, a version test, `except AttributeError`."""
    if any(asks_for_release(test) for test in tests_around(facts, statement)):
        return True
    tries = (outer for outer in enclosing(facts, statement) if isinstance(outer, ast.Try))
    caught = (handler.type for outer in tries for handler in outer.handlers)
    return any(kind is None or not _ABSENT.isdisjoint(names_in(kind)) for kind in caught)


def asks_for_release(test: ast.expr) -> bool:
    return _RELEASE.search(ast.unparse(test)) is not None
