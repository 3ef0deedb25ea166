"""Whether something waits for the device between where a copy is put and where it is read again."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator
from typing import TYPE_CHECKING

from torchlint.checks.devices.host_copies.waits import Wait, is_usual, waiting_between, waiting_calls
from torchlint.facts.calls import callers
from torchlint.facts.control.blocks import loops_around
from torchlint.facts.control.conditions import mutually_exclusive
from torchlint.facts.control.order import Position, may_follow, position_of
from torchlint.facts.scopes import CallSite

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_DEPTH = 4
_LAST = (1_000_000_000, 0)
"""Behind all positions."""


class Passages:
    """The stretches of code that a copy passes on its way; what waits as surely as `least` ends it there."""

    def __init__(self, facts: FileFacts, least: Wait) -> None:
        self._facts = facts
        self._least = least

    def is_open(self, put: ast.expr | None, read: ast.expr) -> bool:
        """Whether a copy may not have arrived where it is read; `put` holds it before, a parameter from the start."""
        if put is None:
            return not self._is_waited_for(None, read)
        if isinstance(self._facts.index.parents.get(put), ast.comprehension):
            return True  # what it goes through comes first, though it is written behind
        home, function = self._function_of(put), self._function_of(read)
        if home == function:
            is_next = position_of(put) == position_of(read) or may_follow(self._facts, put, read)
            return is_next and not self._is_waited_for(put, read)
        ways = list(self._calls_of(function))
        # Where nobody is seen to call the function, whoever does may have waited.
        return bool(ways) and not any(
            (
                self._is_waited_for(None, read),
                any(self._is_waited_for(put if self._function_of(way) == home else None, way) for way in ways),
                self._is_waited_for_behind(put, ways),
            )
        )

    def _function_of(self, node: ast.AST) -> int | None:
        return self._facts.function_of(self._facts.index.scope_of(node))

    def _calls_of(self, function: int | None, depth: int = _DEPTH) -> Iterator[ast.Call]:
        """The calls by which a function comes to run, one in another."""
        for site, _ in callers(self._facts, function) if function is not None and depth else ():
            yield site.node
            yield from self._calls_of(self._facts.function_of(site.scope), depth - 1)

    def _is_waited_for_behind(self, put: ast.expr, ways: Container[ast.Call]) -> bool:
        """Whether a function waits after it has put the copy where another one, run by other calls, reads it."""
        behind = waiting_between(self._facts, self._function_of(put), self._least, position_of(put), _LAST)
        others = (one for one in behind if one.node not in ways and is_usual(self._facts, one.statement))
        return any(self._is_of_another(one, put) for one in others)

    def _is_waited_for(self, put: ast.expr | None, read: ast.expr) -> bool:
        """Whether something surely waits inside the function that reads the copy, once it is put."""
        facts, end = self._facts, self._begin(read)
        start = (0, 0) if put is None else position_of(put)
        known = [facts.index.statement_of(one) for one in (put, read) if one is not None]
        function = self._function_of(read)
        if start <= end:
            passed = waiting_between(facts, function, self._least, start, end)
        else:  # in the round before
            loops = set(loops_around(facts, known[-1]))
            others = (one for place, one in waiting_calls(facts, function, self._least) if not end <= place <= start)
            passed = (one for one in others if not loops.isdisjoint(loops_around(facts, one.statement)))
        return any(
            site.node is not read and self._is_on_way(site.statement, known) and self._is_of_another(site, put, read)
            for site in passed
        )

    def _begin(self, read: ast.expr) -> Position:
        """Where a read takes place; what a comprehension goes through is read before all that it does with it."""
        above = self._facts.index.parents.get(read)
        holder = self._facts.index.parents[above] if isinstance(above, ast.comprehension) else None
        return (holder.lineno, holder.col_offset) if isinstance(holder, ast.expr) else position_of(read)

    def _is_on_way(self, wait: ast.stmt, known: list[ast.stmt]) -> bool:
        """Whether what waits runs whenever the copy is put and read; known are the statements that do."""
        is_excluded = any(mutually_exclusive(self._facts, wait, one) for one in known)
        return not is_excluded and is_usual(self._facts, wait, *known)

    def _is_of_another(self, site: CallSite, *copies: ast.expr | None) -> bool:
        """Whether what waits is no call of the copy itself: `copy.to(...)` finds it on the host."""
        names, receiver = {ast.unparse(one) for one in copies if one is not None}, site.node.func
        while isinstance(receiver, ast.Attribute | ast.Subscript | ast.Call) and ast.unparse(receiver) not in names:
            receiver = receiver.func if isinstance(receiver, ast.Call) else receiver.value
        return ast.unparse(receiver) not in names
