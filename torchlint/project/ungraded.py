"""Modules of a project to which no gradient comes back in any of its programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from torchlint.facts.flow.containment import Ungraded
from torchlint.facts.flow.references import is_only_made
from torchlint.facts.flow.stores import constructions_of
from torchlint.facts.flow.tracker import follow
from torchlint.facts.flow.values import Exit, Value
from torchlint.facts.functions import own_scope

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts
    from torchlint.project.index import Project


class _Made(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What becomes of the objects of a class that one file makes."""

    is_seen: bool = False
    is_run: bool = False
    exits: tuple[Exit, ...] = ()
    asked: tuple[tuple[str, bool], ...] = ()
    """The other classes that it hangs on, and whether these were ungraded."""


class UngradedModules:
    """Answers about classes, each worked out once."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._known: dict[str, bool] = {}

    def holds(self, path: str, symbol: str) -> bool:
        """Whether a method belongs to a module whose objects are all seen, and run where gradients are off."""
        owner = symbol.rpartition(".")[0]
        is_open = self._project.is_installed and self._project.is_in_package(path)
        return bool(owner) and not is_open and self._is_ungraded(f"{path}::{owner}")

    def _is_ungraded(self, owner: str) -> bool:
        if owner not in self._known:
            self._known[owner] = False  # in a circle nobody shows it
            self._known[owner] = self._are_all_seen(owner)
        return self._known[owner]

    def _are_all_seen(self, owner: str) -> bool:
        project = self._project
        path, _, name = owner.partition("::")
        if project.imports_by_name or not project.programs.calls.is_module((path, name)):
            return False
        users = sorted(project.flows.users_of(owner) | {path})
        if any(base == owner for one in users for _, base in project.summaries[one].bases):
            return False  # an heir runs the same methods
        found = [self._runs(one, owner) for one in users]
        return None not in found and any(found)

    def _runs(self, path: str, owner: str) -> bool | None:
        """Whether objects that a file makes are seen to run; None where one may get a gradient, or out of sight."""
        made = self._project.interview.answer(path, ("made", owner), _Made, lambda facts: self._made(facts, owner))
        if made is not None and any(self._is_ungraded(other) is not said for other, said in made.asked):
            facts = self._project.interview.read(path)  # another file has changed what is so of a class
            made = None if facts is None else self._made(facts, owner)
        if made is None or not made.is_seen:
            return None
        beyond = self._project.flows.contained(made.exits, lambda other: Ungraded(other, self._is_ungraded))
        return None if beyond is None else made.is_run or any(one.is_run for one in beyond)

    def _made(self, facts: FileFacts, owner: str) -> _Made:
        own = own_scope(facts, owner)
        is_decorated = own is not None and bool(getattr(facts.symbols.scopes[own].node, "decorator_list", ()))
        if is_decorated or not is_only_made(facts, owner):
            return _Made()
        asked: dict[str, bool] = {}

        def is_ungraded(other: str) -> bool:
            asked[other] = self._is_ungraded(other)
            return asked[other]

        analysis = Ungraded(facts, is_ungraded)
        flow = follow(analysis, *(Value(call) for call in constructions_of(facts, {owner})))
        return _Made(flow.is_contained, analysis.is_run, tuple(flow.exits), tuple(asked.items()))
