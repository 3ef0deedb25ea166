"""Which calls may wait for the device, and whether one stands between where a copy is put and where it is read."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Container, Iterator
from typing import TYPE_CHECKING

from torchlint.catalogue.load import load_host_copies
from torchlint.facts.calls import Way, callers, targets
from torchlint.facts.control.blocks import loops_around
from torchlint.facts.control.conditions import mutually_exclusive, unmet
from torchlint.facts.control.order import Position, may_follow, position_of
from torchlint.facts.memoizing import memoized
from torchlint.facts.scopes import CallSite
from torchlint.facts.tensors.devices import is_dtype
from torchlint.facts.tensors.methods import method_named
from torchlint.facts.tree import last_word
from torchlint.facts.values import all_given

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_WAITING = re.compile(r"sync|wait|barrier|join|fence|flush|block_until|result|await|finish")
_OPTION = re.compile(r"cuda|gpu|cpu|device|accelerator|sync|block|stream|event|query|^[\w.]+$")
"""Tests that ask where work is done, or how far it is; options by their names alone."""
_DEPTH = 4
_CALLS_ABOVE = 4
_LAST = (1_000_000_000, 0)
"""Behind all positions."""


@memoized
def _waiting_calls(facts: FileFacts, function: int | None) -> list[tuple[Position, CallSite]]:
    """The calls of a function that may wait, one after another, each with its position."""
    waiting = (site for site in facts.calls_in(function) if _may_wait(facts, site))
    return sorted(((position_of(site.node), site) for site in waiting), key=_place)


def _waiting_between(facts: FileFacts, function: int | None, start: Position, end: Position) -> Iterator[CallSite]:
    """Those of them behind one position, up to another."""
    waiting = _waiting_calls(facts, function)
    first, last = (bisect_right(waiting, position, key=_place) for position in (start, end))
    return (site for _, site in waiting[first:last])


def _place(waiting: tuple[Position, CallSite]) -> Position:
    return waiting[0]


def _is_usual(facts: FileFacts, statement: ast.stmt, *others: ast.stmt) -> bool:
    """Whether a statement runs whenever others of its function do: loops have rounds, options are as they must be."""
    return all(_OPTION.search(test.lower()) for test in unmet(facts, statement, *others))


def _may_wait(facts: FileFacts, site: CallSite, depth: int = _DEPTH) -> bool:
    """Whether a call that has nothing to do with the copy may wait until the device has finished it."""
    call, scope, words = site.node, site.scope, load_host_copies()
    run = [one for one in targets(facts, call, scope) if one.way is not Way.STARTED]
    if run:
        return any(_may_wait_inside(facts, one.function.index, depth) for one in run)
    short = last_word(call.func)
    called = method_named(short)
    if short in words.asking:
        return isinstance(site.statement, ast.While | ast.If | ast.Assert)
    if short in words.moving:
        return not _goes_on(facts, call, scope)
    name = facts.names(call.func, scope).only or ""
    if name == "builtins.print":  # to print a tensor of the device is to wait for it
        return not all(isinstance(one, ast.Constant) for one in call.args)
    is_method = isinstance(call.func, ast.Attribute) and (not name or "()." in name)
    if is_method and short in words.quiet.methods:
        return False
    if called.waits == "always":
        return True
    if name in words.quiet.functions or name.rpartition(".")[0] in words.quiet.homes:
        return False
    is_quiet = (called.reads or called.describes or called.carries) and not called.waits and not called.device
    return _WAITING.search(short.lower()) is not None or not (is_method and is_quiet)


@memoized
def _may_wait_inside(facts: FileFacts, function: int, depth: int) -> bool:
    """Whether a function of the file may wait whenever it is called."""
    found = (one for one in facts.calls_in(function) if _is_usual(facts, one.statement))
    return depth <= 0 or any(_may_wait(facts, one, depth - 1) for one in found)


def _goes_on(facts: FileFacts, call: ast.Call, scope: int) -> bool:
    """`x.to(device, non_blocking=True)`; `x.to(torch.float32)`, which moves nothing."""
    for keyword in call.keywords:
        if keyword.arg == "non_blocking":
            return facts.value(keyword.value, scope).constants == (True,)
    if any(keyword.arg == "device" for keyword in call.keywords):
        return False
    given = all_given(call)
    return bool(given) and all(is_dtype(facts, argument, scope) for argument in given)


class Passages:
    """The stretches of code that a copy passes on its way; what may wait ends it there."""

    def __init__(self, facts: FileFacts) -> None:
        self._facts = facts

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

    def _calls_of(self, function: int | None, depth: int = _CALLS_ABOVE) -> Iterator[ast.Call]:
        """The calls by which a function comes to run, one in another."""
        for site, _ in callers(self._facts, function) if function is not None and depth else ():
            yield site.node
            yield from self._calls_of(self._facts.function_of(site.scope), depth - 1)

    def _is_waited_for_behind(self, put: ast.expr, ways: Container[ast.Call]) -> bool:
        """Whether a function waits after it has put the copy where another one, run by other calls, reads it."""
        behind = _waiting_between(self._facts, self._function_of(put), position_of(put), _LAST)
        others = (one for one in behind if one.node not in ways and _is_usual(self._facts, one.statement))
        return any(self._is_of_another(one, put) for one in others)

    def _is_waited_for(self, put: ast.expr | None, read: ast.expr) -> bool:
        """Whether something surely waits inside the function that reads the copy, once it is put."""
        facts, end = self._facts, self._begin(read)
        start = (0, 0) if put is None else position_of(put)
        known = [facts.index.statement_of(one) for one in (put, read) if one is not None]
        function = self._function_of(read)
        if start <= end:
            passed = _waiting_between(facts, function, start, end)
        else:  # in the round before
            loops = set(loops_around(facts, known[-1]))
            others = (one for place, one in _waiting_calls(facts, function) if not end <= place <= start)
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
        return not is_excluded and _is_usual(self._facts, wait, *known)

    def _is_of_another(self, site: CallSite, *copies: ast.expr | None) -> bool:
        """Whether what waits is no call of the copy itself: `copy.to(...)` finds it on the host."""
        names, receiver = {ast.unparse(one) for one in copies if one is not None}, site.node.func
        while isinstance(receiver, ast.Attribute | ast.Subscript | ast.Call) and ast.unparse(receiver) not in names:
            receiver = receiver.func if isinstance(receiver, ast.Call) else receiver.value
        return ast.unparse(receiver) not in names
