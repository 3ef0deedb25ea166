"""Where the values of a copy in host memory are read, and whether anything before may wait for the device."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Container, Iterable, Iterator
from operator import itemgetter

from torchlint.catalogue.load import load_host_copies
from torchlint.catalogue.values import Kind
from torchlint.facts.calls import Way, callers, targets
from torchlint.facts.control.blocks import loops_around
from torchlint.facts.control.conditions import mutually_exclusive, unmet
from torchlint.facts.control.order import Position, may_follow, position_of
from torchlint.facts.definitions import definitions_of
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.containment import call_with
from torchlint.facts.flow.stores import other_stores
from torchlint.facts.flow.tracker import Analysis, Sink
from torchlint.facts.flow.values import Definition, Given, Item, Kept, Move, Stored, Through, Value
from torchlint.facts.graphs import reached
from torchlint.facts.memoizing import followed, memoized
from torchlint.facts.notation import Member, is_result, reference
from torchlint.facts.scopes import CallSite
from torchlint.facts.tensors.devices import is_dtype
from torchlint.facts.tensors.elements import is_count
from torchlint.facts.tensors.kinds import kind_of
from torchlint.facts.tensors.methods import SAME_MEMORY, function_named, joins, method_named, reads_all
from torchlint.facts.tree import is_literal_none, is_own, last_word
from torchlint.facts.values import all_given

_WAITING = re.compile(r"sync|wait|barrier|join|fence|flush|block_until|result|await|finish")
_OPTION = re.compile(r"cuda|gpu|cpu|device|accelerator|sync|block|stream|event|query|^[\w.]+$")
"""Tests that ask where work is done, or how far it is; options by their names alone."""
_LAST = (1_000_000_000, 0)
"""Behind all positions."""
_IDENTITY = (ast.Is, ast.IsNot, ast.In, ast.NotIn)


@memoized
def _waiting_calls(facts: FileFacts, function: int | None) -> list[tuple[Position, CallSite]]:
    """The calls of a function that may wait, one after another, each with its position."""
    waiting = (site for site in facts.calls_in(function) if _may_wait(facts, site))
    return sorted(((position_of(site.node), site) for site in waiting), key=itemgetter(0))


def _waiting_between(facts: FileFacts, function: int | None, start: Position, end: Position) -> Iterator[CallSite]:
    """Those of them behind one position, up to another."""
    waiting = _waiting_calls(facts, function)
    first, last = (bisect_right(waiting, position, key=itemgetter(0)) for position in (start, end))
    return (site for _, site in waiting[first:last])


def _is_usual(facts: FileFacts, statement: ast.stmt, *others: ast.stmt) -> bool:
    """Whether a statement runs whenever others of its function do: loops have rounds, options are as they must be."""
    return all(_OPTION.search(test.lower()) for test in unmet(facts, statement, *others))


def _may_wait(facts: FileFacts, site: CallSite) -> bool:
    """Whether a call that has nothing to do with the copy may wait until the device has finished it."""
    call, scope, words = site.node, site.scope, load_host_copies()
    run = [one for one in targets(facts, call, scope) if one.way is not Way.STARTED]
    if run:
        return any(_may_wait_inside(facts, one.function.index) for one in run)
    short = last_word(call.func)
    called = method_named(short)
    if short in words.asking:
        return isinstance(site.statement, (ast.While, ast.If, ast.Assert))
    if short in words.moving:
        return not _goes_on(facts, call, scope)
    name = facts.names(call.func, scope).only or ""
    if name == "builtins.print":  # to print a tensor of the device is to wait for it
        return not all(_is_plain(facts, one, scope) for one in call.args)
    is_method = isinstance(call.func, ast.Attribute) and (not name or isinstance(reference(name), Member))
    if is_method and short in words.quiet.methods:
        return False
    if called.waits == "always":
        return True
    if name in words.quiet.functions or name.rpartition(".")[0] in words.quiet.homes:
        return False
    is_quiet = (called.reads or called.describes or called.carries) and not called.waits and not called.device
    return _WAITING.search(short.lower()) is not None or not (is_method and is_quiet)


@followed(otherwise=True)
def _may_wait_inside(facts: FileFacts, function: int) -> bool:
    """Whether a function of the file may wait whenever it is called."""
    found = (one for one in facts.calls_in(function) if _is_usual(facts, one.statement))
    return any(_may_wait(facts, one) for one in found)


def _is_plain(facts: FileFacts, argument: ast.expr, scope: int) -> bool:
    """Whether a value is text or a number, as far as is seen; what a parameter is, calls in the file say."""
    ends = definitions_of(facts, argument, scope, Through.PARAMETERS)
    seen = [one for one in ends if isinstance(one, Definition)]
    return None not in ends and bool(seen) and all(_is_plain_value(facts, one.node, one.scope) for one in seen)


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


class _Passages:
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
        # Where nobody is seen to call the function, whoever does may have waited.
        functions = reached([function], lambda one: map(self._function_of, self._calls_to(one)))
        ways = [call for one in functions for call in self._calls_to(one)]
        passed = [self._is_waited_for(put if self._function_of(way) == home else None, way) for way in ways]
        is_waited_for = self._is_waited_for(None, read) or any(passed) or self._waits_behind(put, ways)
        return bool(ways) and not is_waited_for

    def _calls_to(self, function: int | None) -> list[ast.Call]:
        return [] if function is None else [site.node for site, _ in callers(self._facts, function)]

    def _waits_behind(self, put: ast.expr, ways: Container[ast.Call]) -> bool:
        """Whether a function waits after it has put the copy where another one, run by other calls, reads it."""
        behind = _waiting_between(self._facts, self._function_of(put), position_of(put), _LAST)
        others = (one for one in behind if one.node not in ways and _is_usual(self._facts, one.statement))
        return any(self._is_of_another(one, put) for one in others)

    def _function_of(self, node: ast.AST) -> int | None:
        return self._facts.function_of(self._facts.index.scope_of(node))

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
        while isinstance(receiver, (ast.Attribute, ast.Subscript, ast.Call)) and ast.unparse(receiver) not in names:
            receiver = receiver.func if isinstance(receiver, ast.Call) else receiver.value
        return ast.unparse(receiver) not in names


class HostCopy(Analysis):
    """Follows a copy and its views until something waits for the device."""

    def __init__(self, facts: FileFacts) -> None:
        super().__init__(facts)
        self._passages = _Passages(facts)

    def arrives(self, move: Move | None, value: Value) -> bool:
        if isinstance(value.node, ast.Call):  # it comes as a result, at once
            return True
        if isinstance(move, (Kept, Stored)):
            is_other = isinstance(move, Stored) and self._may_be_another(move, value)
            return not is_other and self._passages.is_open(move.value.node, value.node)
        if isinstance(move, Given) or (move is None and not is_own(value.node)):
            return self._passages.is_open(None, value.node)
        return move is not None

    def _may_be_another(self, move: Stored, read: Value) -> bool:
        """Whether another function may read an attribute when it has taken another value."""
        places = (move.value.node, read.node)
        functions = {self.facts.function_of(self.facts.index.scope_of(one)) for one in places}
        stores = (self.facts.index.statement_of(one) for one in other_stores(self.facts, move))
        return len(functions) > 1 and any(not is_literal_none(getattr(one, "value", None)) for one in stores)

    def passes(self, value: Value) -> Iterable[Move | Sink]:
        call = call_with(self.facts, value.node)
        is_read = call is not None and (joins(self.facts, call) or self._reads_entries(value, call))
        return self._read(value, call) if call is not None and is_read else super().passes(value)

    def _reads_entries(self, value: Value, call: ast.Call) -> bool:
        """`torch.save(state, path)`, where a container holds the copy; to ask whether it is empty reads nothing."""
        name = self.facts.names(call.func, self.facts.index.inner_scope_of(call)).only
        is_held = bool(value.path) and all(isinstance(one, Item) for one in value.path)
        return is_held and name != "builtins.bool" and name in load_host_copies().reading

    def steps(self, value: Value) -> Iterable[Move | Sink]:
        above, call = self.facts.index.parents[value.node], call_with(self.facts, value.node)
        if call is not None:
            name = self.facts.names(call.func, self.facts.index.inner_scope_of(call)).only or ""
            if name in load_host_copies().viewing:
                return [value.at(call)]
            called = function_named(name)
            is_copied = called.carries and not called.memory
            is_of_numpy = name.startswith(("numpy.", "cv2.")) and not is_result(name)
            if name in load_host_copies().reading or reads_all(name) or is_copied or is_of_numpy:
                return self._read(value, call)
            return self.passes(value)
        if isinstance(above, ast.Attribute):
            return self._member(value, above)
        if isinstance(above, ast.Subscript):
            return self._subscript(value, above)
        if isinstance(above, (ast.List, ast.Tuple)):
            call = call_with(self.facts, above)  # `torch.cat([x, y])` reads both
            return self._read(value, call) if call is not None and joins(self.facts, call) else self.passes(value)
        if isinstance(above, (ast.For, ast.comprehension)) and above.iter is value.node:
            return [Kept(above.target, value)]  # its rows are views
        if isinstance(above, ast.BoolOp) and above.values[-1] is value.node:
            return [value.at(above)]
        if self._is_read_by(above, value.node):
            return self._read(value, above if isinstance(above, ast.expr) else value.node)
        return self.passes(value)

    def _is_read_by(self, above: ast.AST, node: ast.expr) -> bool:
        if isinstance(above, ast.Compare):
            return not any(isinstance(one, _IDENTITY) for one in above.ops)
        if isinstance(above, (ast.If, ast.While, ast.Assert, ast.IfExp)):
            return above.test is node
        if isinstance(above, ast.AugAssign):
            return above.value is node
        return isinstance(above, (ast.BinOp, ast.UnaryOp, ast.FormattedValue, ast.BoolOp))

    def _member(self, value: Value, above: ast.Attribute) -> Iterable[Move | Sink]:
        call = self.facts.index.parents[above]
        if not isinstance(call, ast.Call) or call.func is not above:
            return [value.at(above)] if above.attr in SAME_MEMORY else ()
        called = method_named(above.attr)
        if called.views:
            return [value.at(call)]
        return self._read(value, call) if called.reads or (called.carries and not called.device) else ()

    def _subscript(self, value: Value, above: ast.Subscript) -> Iterable[Move | Sink]:
        if above.value is value.node:
            return [value.at(above)] if isinstance(above.ctx, ast.Load) else ()
        kind = kind_of(self.facts, above.value, self.facts.index.scope_of(above))
        return self._read(value, above) if kind in (Kind.TENSOR, Kind.NDARRAY) else ()

    def _read(self, value: Value, node: ast.expr) -> Iterable[Sink]:
        return [Sink(ast.unparse(node), node)] if self._passages.is_open(value.node, node) else ()
