"""Escape analysis: where an object goes inside its file, and whether all that becomes of it is seen.

An object is followed through names, tuples, results and parameters of functions of the same file. What a use means is
the question of a subclass; whatever is not evidently harmless counts as a way out, and then nothing is known.
"""

from __future__ import annotations

import ast
import enum
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from torchlint.facts.calls import Target, function_named, functions_of, started
from torchlint.facts.classes import base_classes, bases_of
from torchlint.facts.functions import is_method, is_plain
from torchlint.facts.scopes import Scope, ScopeKind
from torchlint.facts.starters import arguments_of
from torchlint.facts.tree import TreeIndex, is_self

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts


_EMPTY_BASES = ("builtins.object", "abc.ABC", "torch.nn.Module")


@dataclass(frozen=True, slots=True)
class Carrier:
    """An expression that is the object, or a tuple that holds it: `inside` are the indices that lead to it.

    Where the object is a part of the one that was started with, `keys` lead from there to it.
    """

    node: ast.expr
    role: enum.Enum
    inside: tuple[int, ...] = ()
    keys: tuple[str, ...] = ()

    def at(self, node: ast.expr) -> Carrier:
        return replace(self, node=node)


@dataclass(slots=True)
class Follower(ABC):
    """Follows objects through one file."""

    facts: FileFacts
    shared: set[str] = field(default_factory=set)
    """What leads to an object that was followed, for a file that imports this one: names, and `.attributes`."""
    entered: dict[int, list[ast.Call]] = field(default_factory=dict)
    """Functions that get the object, and the calls that hand it over."""

    @property
    def tree(self) -> TreeIndex:
        return self.facts.index

    def keeps(self, starts: Iterable[Carrier]) -> bool:
        """Whether all uses are seen, and none of them is what the subclass is afraid of."""
        waiting, seen = list(starts), set()
        while waiting:
            found = waiting.pop()
            if found in seen:
                continue
            seen.add(found)
            following = self._step(found)
            if following is None and not self.may_lose(found):
                return False
            waiting += following or ()
        return True

    def may_lose(self, _found: Carrier) -> bool:
        """Whether an object may get out of sight at this place: never, unless a subclass counts what is lost."""
        return False

    @abstractmethod
    def used(self, found: Carrier, parent: ast.AST) -> list[Carrier] | None:
        """What a use of the object itself leads to; None where it gets out of sight."""

    def _step(self, found: Carrier) -> list[Carrier] | None:
        parent = self.tree.parents[found.node]
        if isinstance(parent, ast.Expr):
            return []
        if isinstance(parent, ast.Assign):
            return _all([self._bound(found, target) for target in parent.targets])
        if isinstance(parent, ast.AnnAssign) and parent.value is found.node:
            return self._bound(found, parent.target)
        if isinstance(parent, ast.Return):
            return self.returned(found, parent)
        if isinstance(parent, ast.IfExp) and parent.test is not found.node:
            return [found.at(parent)]
        if isinstance(parent, ast.Tuple) and isinstance(self.tree.parents[parent], ast.Return | ast.Assign):
            return [replace(found, node=parent, inside=(parent.elts.index(found.node), *found.inside))]
        if isinstance(parent, ast.Tuple) and isinstance(self.tree.parents[parent], ast.keyword):
            return self._spawned(found, parent)
        if isinstance(parent, ast.Subscript) and found.inside and parent.value is found.node:
            return _picked(found, parent)
        if isinstance(parent, ast.Call | ast.keyword):
            return self._given(found, parent)
        return None if found.inside else self.used(found, parent)

    def _bound(self, found: Carrier, target: ast.expr) -> list[Carrier] | None:
        if isinstance(target, ast.Tuple | ast.List) and found.inside:
            index, *inside = found.inside
            if any(isinstance(one, ast.Starred) for one in target.elts) or index >= len(target.elts):
                return None
            return self._bound(replace(found, inside=tuple(inside)), target.elts[index])
        if isinstance(target, ast.Attribute) and not found.inside:
            return self.kept(found, target)
        if not isinstance(target, ast.Name):
            return None
        statement = self.tree.statement_of(target)
        owner = self.facts.resolver.owner(target.id, self.tree.scope_of(statement))
        if owner is None or owner.kind is ScopeKind.CLASS:
            return None
        if owner.index == 0 and not self.facts.is_guarded(statement):
            self.shared.add(target.id)
        return self.held(found, owner.index, target.id)

    def kept(self, _found: Carrier, _target: ast.Attribute) -> list[Carrier] | None:
        """Where an object goes that is stored in an attribute: out of sight, unless a subclass knows better."""
        return None

    def kept_on_self(self, found: Carrier, target: ast.Attribute) -> list[Carrier] | None:
        """`self.loader = loader`: all methods of the class may read it, and whoever has the object."""
        owner = self.facts.class_of(self.tree.scope_of(target))
        if owner is None or not is_self(target.value) or not _is_plain_class(self.facts, owner):
            return None
        self.shared.add(f".{target.attr}")
        return [
            found.at(node)
            for node in self.tree.attributes(target.attr)
            if isinstance(node.ctx, ast.Load)
            and (not is_self(node.value) or self.facts.class_of(self.tree.scope_of(node)) == owner)
        ]

    def held(self, found: Carrier, owner: int, name: str) -> list[Carrier]:
        """The places that read a name which holds the object."""
        return [found.at(read) for read in self.tree.reads(owner, name)]

    def returned(self, found: Carrier, statement: ast.Return) -> list[Carrier] | None:
        """Where the result of a function goes."""
        function = self.facts.function_of(self.tree.scope_of(statement))
        calls = None if function is None else self.calls_of(self.facts.reading.scopes[function])
        return None if not calls else [found.at(call) for call in calls]

    def calls_of(self, function: Scope) -> list[ast.Call] | None:
        """All calls of a function of this file; None where it may be called out of sight."""
        parent = self.facts.reading.scopes[function.parent or 0]
        if parent.kind is ScopeKind.CLASS or not is_plain(self.facts, function):
            return None
        if len(parent.bindings.get(function.name, ())) != 1:
            return None
        if parent.index == 0:
            self.shared.add(function.name)
        found = []
        for read in self.tree.reads(parent.index, function.name):
            call = self.tree.parents[read]
            if not isinstance(call, ast.Call) or call.func is not read:
                return None
            found.append(call)
        return found

    def _given(self, found: Carrier, parent: ast.Call | ast.keyword) -> list[Carrier] | None:
        """Into the function of this file that is called with it, if it is one."""
        call = self.tree.parents[parent] if isinstance(parent, ast.keyword) else parent
        target = self._run(call) if isinstance(call, ast.Call) and call.func is not found.node else None
        if target is None or not isinstance(call, ast.Call):
            return None if found.inside else self.used(found, parent)
        self.entered.setdefault(target.function.index, []).append(call)
        return self._handed(found, target)

    def _spawned(self, found: Carrier, arguments: ast.Tuple) -> list[Carrier] | None:
        """`mp.spawn(work, args=(options,))` calls `work(rank, options)` in each process."""
        call = self.tree.parents[self.tree.parents[arguments]]
        handed = started(self.facts, call, self.tree.scope_of(call)) if isinstance(call, ast.Call) else []
        if not handed:
            return None if found.inside else self.used(found, arguments)
        return self._handed(found, handed[0]) if len(handed) == 1 and self._is_followed(handed[0].function) else None

    def _handed(self, found: Carrier, target: Target) -> list[Carrier] | None:
        """The places that read a parameter which gets the object."""
        parameter = target.parameter_of(found.node)
        return None if parameter is None else self.held(found, target.function.index, parameter)

    def arguments_for(self, function: Scope, parameter: str) -> list[ast.expr | None] | None:
        """What each call of a function gives for a parameter (None: it is left out); None where a call is unseen."""
        calls = self.calls_of(function) if function.kind is ScopeKind.FUNCTION else None
        if not calls:
            return None
        given = [
            Target(function).given(arguments_of(call), self.tree.scope_of(call)).argument(parameter) for call in calls
        ]
        return [None if one is None else one[0] for one in given]

    def _run(self, call: ast.Call) -> Target | None:
        """The one function of this file that a call runs, and what it is given."""
        found = functions_of(self.facts, call.func, self.tree.scope_of(call))
        target = found[0] if len(found) == 1 else None
        if target is None or not self._is_followed(target.function):
            return None
        return target.given(arguments_of(call), self.tree.scope_of(call))

    def _is_followed(self, function: Scope) -> bool:
        """Whether nothing else than the code that is seen runs a function: methods may be overridden."""
        is_overridable = is_method(self.facts, function) and function.name != "__init__"
        return is_plain(self.facts, function) and not is_overridable

    def function_named(self, name: str) -> Target | None:
        """The function of this file that a full name means; for a class, its `__init__`."""
        target = function_named(self.facts, name)
        return target if target is not None and self._is_followed(target.function) else None


def _is_plain_class(facts: FileFacts, owner: int) -> bool:
    """Whether a class's own methods are all it has: no base of a library that may do more, no class on top of it."""
    scope = facts.reading.scopes[owner]
    if not isinstance(scope.node, ast.ClassDef) or scope.node.keywords:
        return False
    bases = [base.only for base in bases_of(facts, scope)]
    is_base = any(base == f"{facts.path}::{scope.qualname}" for _, base in base_classes(facts))
    return all(base in _EMPTY_BASES for base in bases) and not is_base


def _all(found: list[list[Carrier] | None]) -> list[Carrier] | None:
    return None if None in found else [one for some in found if some is not None for one in some]


def _picked(found: Carrier, subscript: ast.Subscript) -> list[Carrier] | None:
    """`parse_known_args()[0]`."""
    index = subscript.slice.value if isinstance(subscript.slice, ast.Constant) else None
    if not isinstance(index, int):
        return None
    return [replace(found, node=subscript, inside=found.inside[1:])] if index == found.inside[0] else []
