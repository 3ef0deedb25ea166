"""Which calls wait for the device, and which evidently do not: the rest may."""

from __future__ import annotations

import ast
import enum
import re
from bisect import bisect_right
from collections.abc import Container, Iterator
from typing import TYPE_CHECKING

from torchlint.catalogue.load import load_host_copies
from torchlint.catalogue.values import Kind
from torchlint.facts.calls import Way, callers, targets
from torchlint.facts.control.blocks import loops_around
from torchlint.facts.control.conditions import mutually_exclusive, unmet
from torchlint.facts.control.order import Position, may_follow, position_of
from torchlint.facts.definitions import definitions_of
from torchlint.facts.ends import Definition, Parameter, Through
from torchlint.facts.memoizing import memoized
from torchlint.facts.scopes import CallSite
from torchlint.facts.tensors.devices import is_dtype
from torchlint.facts.tensors.elements import is_count
from torchlint.facts.tensors.kinds import kind_of
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


class Wait(enum.IntEnum):
    NO = 0
    PERHAPS = 1
    YES = 2


@memoized
def _waiting_calls(facts: FileFacts, function: int | None, least: Wait) -> list[tuple[Position, CallSite]]:
    """The calls of a function that wait at least as surely, one after another, each with its position."""
    waiting = (site for site in facts.calls_in(function) if _wait_of(facts, site) >= least)
    return sorted(((position_of(site.node), site) for site in waiting), key=_place)


def _waiting_between(
    facts: FileFacts, function: int | None, least: Wait, start: Position, end: Position
) -> Iterator[CallSite]:
    """Those of them behind one position, up to another."""
    waiting = _waiting_calls(facts, function, least)
    first, last = (bisect_right(waiting, position, key=_place) for position in (start, end))
    return (site for _, site in waiting[first:last])


def _place(waiting: tuple[Position, CallSite]) -> Position:
    return waiting[0]


def _is_usual(facts: FileFacts, statement: ast.stmt, *others: ast.stmt) -> bool:
    """Whether a statement runs whenever others of its function do: loops have rounds, options are as they must be."""
    return all(_OPTION.search(test.lower()) for test in unmet(facts, statement, *others))


def _wait_of(facts: FileFacts, site: CallSite, depth: int = _DEPTH) -> Wait:
    """Whether a call that has nothing to do with the copy waits until the device has finished it."""
    call, scope, words = site.node, site.scope, load_host_copies()
    run = [one for one in targets(facts, call, scope) if one.way is not Way.STARTED]
    if run:
        return max(_wait_inside(facts, one.function.index, depth) for one in run)
    short = last_word(call.func)
    called = method_named(short)
    if short in words.asking:
        is_loop = isinstance(site.statement, ast.While | ast.If | ast.Assert)
        return Wait.YES if is_loop else Wait.NO
    if short in words.moving:
        return Wait.NO if _goes_on(facts, call, scope) else Wait.YES
    name = facts.names(call.func, scope).only or ""
    if name == "builtins.print":
        return Wait.NO if all(_is_plain(facts, one, scope) for one in call.args) else Wait.PERHAPS
    is_method = isinstance(call.func, ast.Attribute) and (not name or "()." in name)
    if is_method and short in words.quiet.methods:
        return Wait.NO
    if called.waits == "always":
        return Wait.YES
    if name in words.quiet.functions or name.rpartition(".")[0] in words.quiet.homes:
        return Wait.NO
    if _WAITING.search(short.lower()):
        return Wait.YES
    is_quiet = (called.reads or called.describes or called.carries) and not called.waits and not called.device
    return Wait.NO if is_method and is_quiet else Wait.PERHAPS


@memoized
def _wait_inside(facts: FileFacts, function: int, depth: int) -> Wait:
    """Whether a function of the file waits whenever it is called."""
    if depth <= 0:
        return Wait.PERHAPS
    found = [one for one in facts.calls_in(function) if _is_usual(facts, one.statement)]
    return max((_wait_of(facts, one, depth - 1) for one in found), default=Wait.NO)


def _is_plain(facts: FileFacts, argument: ast.expr, scope: int) -> bool:
    """Text or a number, as far as is seen: to print a tensor of the device is to wait for it."""
    ends = definitions_of(facts, argument, scope, Through.PARAMETERS)
    seen = [one for one in ends if isinstance(one, Definition)]
    are_known = len(seen) == sum(not isinstance(one, Parameter) for one in ends) > 0
    return are_known and all(_is_plain_value(facts, one.node, one.scope) for one in seen)


def _is_plain_value(facts: FileFacts, node: ast.expr, scope: int) -> bool:
    is_number = isinstance(node, ast.Call) and facts.names(node.func, scope).only == "builtins.range"
    return is_number or is_count(facts, node, scope) or kind_of(facts, node, scope) in (Kind.TEXT, Kind.NUMBER)


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

    def _calls_of(self, function: int | None, depth: int = _CALLS_ABOVE) -> Iterator[ast.Call]:
        """The calls by which a function comes to run, one in another."""
        for site, _ in callers(self._facts, function) if function is not None and depth else ():
            yield site.node
            yield from self._calls_of(self._facts.function_of(site.scope), depth - 1)

    def _is_waited_for_behind(self, put: ast.expr, ways: Container[ast.Call]) -> bool:
        """Whether a function waits after it has put the copy where another one, run by other calls, reads it."""
        behind = _waiting_between(self._facts, self._function_of(put), self._least, position_of(put), _LAST)
        others = (one for one in behind if one.node not in ways and _is_usual(self._facts, one.statement))
        return any(self._is_of_another(one, put) for one in others)

    def _is_waited_for(self, put: ast.expr | None, read: ast.expr) -> bool:
        """Whether something surely waits inside the function that reads the copy, once it is put."""
        facts, end = self._facts, self._begin(read)
        start = (0, 0) if put is None else position_of(put)
        known = [facts.index.statement_of(one) for one in (put, read) if one is not None]
        function = self._function_of(read)
        if start <= end:
            passed = _waiting_between(facts, function, self._least, start, end)
        else:  # in the round before
            loops = set(loops_around(facts, known[-1]))
            others = (one for place, one in _waiting_calls(facts, function, self._least) if not end <= place <= start)
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
