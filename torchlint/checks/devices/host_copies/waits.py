"""Which calls wait for the device, and which evidently do not: the rest may."""

from __future__ import annotations

import ast
import enum
import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.catalogue.load import load_host_copies
from torchlint.catalogue.values import Kind
from torchlint.facts.calls import Way, targets
from torchlint.facts.control.conditions import unmet
from torchlint.facts.control.order import Position, position_of
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


class Wait(enum.IntEnum):
    NO = 0
    PERHAPS = 1
    YES = 2


@memoized
def waiting_calls(facts: FileFacts, function: int | None, least: Wait) -> list[tuple[Position, CallSite]]:
    """The calls of a function that wait at least as surely, one after another, each with its position."""
    waiting = (site for site in facts.calls_in(function) if wait_of(facts, site) >= least)
    return sorted(((position_of(site.node), site) for site in waiting), key=_place)


def waiting_between(
    facts: FileFacts, function: int | None, least: Wait, start: Position, end: Position
) -> Iterator[CallSite]:
    """Those of them behind one position, up to another."""
    waiting = waiting_calls(facts, function, least)
    first, last = (bisect_right(waiting, position, key=_place) for position in (start, end))
    return (site for _, site in waiting[first:last])


def _place(waiting: tuple[Position, CallSite]) -> Position:
    return waiting[0]


def is_usual(facts: FileFacts, statement: ast.stmt, *others: ast.stmt) -> bool:
    """Whether a statement runs whenever others of its function do: loops have rounds, options are as they must be."""
    return all(_OPTION.search(test.lower()) for test in unmet(facts, statement, *others))


def wait_of(facts: FileFacts, site: CallSite, depth: int = _DEPTH) -> Wait:
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
    found = [one for one in facts.calls_in(function) if is_usual(facts, one.statement)]
    return max((wait_of(facts, one, depth - 1) for one in found), default=Wait.NO)


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
