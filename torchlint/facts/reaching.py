"""Which of a name's bindings may hold where it is read: the usual "reaching definitions", over blocks of lines."""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from torchlint.facts.control.blocks import Loop, lines_of, loops_around
from torchlint.facts.control.order import moment_of
from torchlint.facts.memoizing import memoized
from torchlint.facts.scopes import Binding, BindingKind

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_HEADED = (ast.For, ast.AsyncFor, ast.With, ast.AsyncWith)


@memoized
def reaching(facts: FileFacts, name: str, scope: int, line: int) -> list[Binding]:
    """The bindings of `name` that may give its value on `line`; all of them where their order is not known.

    An augmented assignment (`x += y`) changes a value and keeps what it is, so it counts only where it stands alone.
    """
    owner = facts.resolver.owner(name, scope)
    if owner is None:
        return []
    found = _by_line(facts, name, owner.index)
    if len(found) < 2 or facts.function_of(scope) != facts.function_of(owner.index):
        return found or list(owner.bindings[name])
    above = bisect_right(found, line, key=_line)
    last = next((place for place in reversed(range(above)) if _settles(facts, found[place], line)), None)
    if last is None:
        return found
    between = [one for one in found[last + 1 : above] if _line(one) < line and not _is_at(one, line)]
    return [found[last], *between, *_from_the_round_before(facts, found, found[last], line)]


@memoized
def reads_by_binding(facts: FileFacts, owner: int, name: str) -> Mapping[ast.stmt | None, list[ast.Name]]:
    """The reads of a name of a scope, by the statements that may give it the value that is read."""
    found: dict[ast.stmt | None, list[ast.Name]] = {}
    for read in facts.index.reads(owner, name):
        bindings = reaching(facts, name, facts.index.scope_of(read), read.lineno)
        for statement in dict.fromkeys(binding.statement for binding in bindings):
            found.setdefault(statement, []).append(read)
    return found


@memoized
def _by_line(facts: FileFacts, name: str, scope: int) -> list[Binding]:
    """All that binds a name of a scope, in the order of the lines."""
    bindings = facts.symbols.scopes[scope].bindings[name]
    return sorted((one for one in bindings if not isinstance(one.statement, ast.AugAssign)), key=_line)


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
    """Whether this binding has run whenever `line` runs."""
    statement = binding.statement
    if statement is None or _is_parameter(binding):
        return True
    if isinstance(statement, _HEADED):
        first, last = lines_of(statement.body)
        if first <= line <= last or not isinstance(statement, ast.With | ast.AsyncWith):
            return first <= line <= last
    if (statement.end_lineno or statement.lineno) >= line:
        return False
    return any(begin[0] < line <= end[0] for begin, end in moment_of(facts, statement).runs_before)


def _from_the_round_before(facts: FileFacts, found: list[Binding], last: Binding, line: int) -> Iterator[Binding]:
    """Bindings below the line, in a loop around it that began after the last sure binding."""
    for binding in found[bisect_left(found, line, key=_line) :]:
        if binding.statement is None or _line(binding) > _end_of_loops(facts, line):
            return
        loops = (loop for loop in loops_around(facts, binding.statement) if loop is not last.statement)
        if any(_line(last) < loop.lineno <= line for loop in loops):
            yield binding


def _end_of_loops(facts: FileFacts, line: int) -> int:
    """The last line of the outermost loop around a line; 0 where there is none."""
    loops = facts.cached(_outermost_loops)
    place = bisect_right(loops, line, key=lambda one: one[0]) - 1
    return loops[place][1] if place >= 0 else 0


def _outermost_loops(facts: FileFacts) -> list[tuple[int, int]]:
    """First and last lines of the loops that stand in no other, in source order."""
    found: list[tuple[int, int]] = []
    for loop in sorted((one for one in facts.symbols.parents if isinstance(one, Loop)), key=lambda one: one.lineno):
        if not found or loop.lineno > found[-1][1]:
            found.append(lines_of([loop]))
    return found
