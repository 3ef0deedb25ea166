"""Copies to the host whose values are read while they may still be on their way.

The copy is followed from its call through the statements behind it, into branches and loops and out of them, until
something waits for the device. What is stored, returned or handed to other functions is not followed.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from torchlint.checks.devices.host_copies.copies import METHODS, is_copy_to_host
from torchlint.checks.devices.host_copies.uses import Fate, Use, use_of
from torchlint.checks.devices.host_copies.waits import Wait, wait_of
from torchlint.facts.control.order import Position, position_of, run_after
from torchlint.facts.scopes import CallSite
from torchlint.facts.tensors.methods import function_named

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_FAR = 200
"""How many statements a copy is followed."""


@dataclass(frozen=True, slots=True)
class Race:
    """A copy, and the first read that may come before its end."""

    copy: ast.Call
    reading: ast.AST
    is_direct: bool
    """Both stand in one statement."""
    may_wait: bool
    """A call in between is not known: it may wait for the device."""


def races(facts: FileFacts) -> dict[int, Race]:
    """By the id of the copying call."""
    found = {}
    for site in facts.reading.calls:
        function = site.node.func
        if isinstance(function, ast.Attribute) and function.attr in METHODS and is_copy_to_host(facts, site):
            race = _Follower(facts, site).race()
            if race is not None:
                found[id(site.node)] = race
    return found


@dataclass(slots=True)
class _Follower:
    """The names that a copy goes by, while the statements behind it are gone through."""

    facts: FileFacts
    site: CallSite
    names: set[str] = field(default_factory=set)
    lists: set[str] = field(default_factory=set)
    """Lists that hold it."""
    may_wait: bool = False

    def race(self) -> Race | None:
        start = position_of(self.site.node)
        function = self.site.node.func
        assert isinstance(function, ast.Attribute)
        if function.attr == "copy_":
            target = function.value
            while isinstance(target, ast.Subscript):
                target = target.value
            self.names = {ast.unparse(target)}
        reading, waits = self._first_in(self.site.statement, [self.site.node], start)
        if reading is not None or waits:
            return self._race(reading, is_direct=True) if reading is not None else None
        for statement in islice(run_after(self.facts, self.site.statement), _FAR):
            if not self.names and not self.lists:
                return None
            reading, waits = self._first_in(statement, self._mentions(statement), (0, 0))
            if reading is not None:
                return self._race(reading, is_direct=False)
            if waits:
                return None
            self._forget(statement)
        return None

    def _race(self, reading: ast.AST, *, is_direct: bool) -> Race:
        return Race(self.site.node, reading, is_direct, self.may_wait)

    def _mentions(self, statement: ast.stmt) -> list[ast.expr]:
        """The expressions of a statement that are the copy by one of its names."""
        return [
            node
            for node in self.facts.index.within(statement)
            if isinstance(node, ast.Name | ast.Attribute)
            and isinstance(node.ctx, ast.Load)
            and ast.unparse(node) in self.names
        ]

    def _first_in(self, statement: ast.stmt, values: list[ast.expr], start: Position) -> tuple[ast.AST | None, bool]:
        """The read that a statement begins with, and whether it waits before it reads, or at all."""
        parents = self.facts.index.within(statement)
        if isinstance(statement, _DEFINITIONS):
            return None, False
        uses = [use_of(self.facts, value, self.site.scope, parents) for value in values]
        reads = sorted([use.node for use in uses if use.fate is Fate.READ] + self._joins(parents), key=position_of)
        first = position_of(reads[0]) if reads else None
        own = {id(use.node) for use in uses} | {id(value) for value in values}
        for call in sorted((node for node in parents if isinstance(node, ast.Call)), key=position_of):
            if position_of(call) <= start or id(call) in own or self._is_of_copy(call):
                continue
            if first is not None and position_of(call) > first:
                break
            wait = wait_of(self.facts, call, self.site.scope)
            if wait is Wait.YES:
                return None, True
            self.may_wait = self.may_wait or wait is Wait.PERHAPS
        self._keep(uses)
        return (reads[0] if reads else None), False

    def _is_of_copy(self, call: ast.Call) -> bool:
        """A method of the copy itself, such as `copy.view(-1)`: it lies on the host, so nothing is waited for."""
        receiver = call.func
        while isinstance(receiver, ast.Attribute | ast.Subscript | ast.Call):
            if receiver is self.site.node or ast.unparse(receiver) in self.names:
                return True
            receiver = receiver.func if isinstance(receiver, ast.Call) else receiver.value
        return isinstance(receiver, ast.Name) and receiver.id in self.names

    def _joins(self, parents: Mapping[ast.AST, ast.AST]) -> list[ast.AST]:
        """`torch.cat(parts)` of a list that holds the copy."""
        return [
            node
            for node in parents
            if isinstance(node, ast.Call)
            and node.args
            and isinstance(node.args[0], ast.Name)
            and node.args[0].id in self.lists
            and function_named(self.facts.names(node.func, self.site.scope).only).values == "joined"
        ]

    def _keep(self, uses: list[Use]) -> None:
        for use in uses:
            if isinstance(use.node, ast.Name) and use.fate is Fate.NAMED:
                self.names.add(use.node.id)
            elif isinstance(use.node, ast.Name) and use.fate is Fate.COLLECTED:
                self.lists.add(use.node.id)

    def _forget(self, statement: ast.stmt) -> None:
        """Names that a statement binds to something else, or deletes."""
        kept = {id(value) for value in self._mentions(statement)}
        bound = {
            node.id
            for node in self.facts.index.within(statement)
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
        }
        if not kept:
            self.names -= bound
            self.lists -= bound
