"""Uninitialised memory whose values somebody gets: in the same code, through a function, or as a parameter."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchlint.checks.memory.uninitialised.fates import fate_of
from torchlint.checks.memory.uninitialised.makers import is_beside_the_point, makes_uninitialised
from torchlint.checks.memory.uninitialised.parameters import may_come_from_elsewhere, parameter_made, reading_of
from torchlint.checks.memory.uninitialised.uses import Fate
from torchlint.facts.calls import Way, callers
from torchlint.facts.classes import is_module_class
from torchlint.facts.scopes import CallSite, Scope
from torchlint.facts.tree import last_word
from torchlint.facts.values import all_given

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_ALLOCATING = re.compile(
    r"empty|alloc|buf|workspace|scratch|reserve|"
    r"(?:^|_)(?:create|make|new|get|init\w*|build|prepare|setup|like|outs?|outputs?|placeholder|storage|tensors?)(?:_|$)"
)
"""Functions whose callers are to fill what they return, by their names."""


@dataclass(frozen=True, slots=True)
class Exposure:
    """A call that makes memory which is read before anything writes it. `how` is the variant of the message."""

    call: ast.Call
    how: str
    reading: ast.AST
    name: str = ""
    """Of the parameter, or the function that returns it."""
    is_doubtful: bool = False
    """Another file may well fill it."""


def exposures(facts: FileFacts) -> dict[int, Exposure]:
    """By the id of the call."""
    found = (_exposure(facts, site) for site in facts.reading.calls if makes_uninitialised(facts, site))
    return {id(one.call): one for one in found if one is not None}


def _exposure(facts: FileFacts, site: CallSite) -> Exposure | None:
    if is_beside_the_point(facts, site):
        return None
    parameter = parameter_made(facts, site)
    if parameter is not None:
        reading = reading_of(facts, parameter)
        if reading is None:
            return None
        is_doubtful = may_come_from_elsewhere(facts, parameter, site)
        return Exposure(site.node, "parameter", reading, f"self.{parameter.name}", is_doubtful=is_doubtful)
    use = fate_of(facts, site.node, site.statement, site.scope)
    if use.fate is Fate.READ:
        return Exposure(site.node, "default", use.node)
    return _returned(facts, site, use.node) if use.fate is Fate.RETURNED else None


def _returned(facts: FileFacts, site: CallSite, statement: ast.AST) -> Exposure | None:
    """What a function returns unwritten: read by a caller here, or by whoever calls `forward`."""
    function = facts.function_of(site.scope)
    if function is None or function != site.scope:
        return None
    scope = facts.reading.scopes[function]
    calls = [site for site, target in callers(facts, function) if target.way is Way.CALLED]
    for caller in calls:
        use = fate_of(facts, caller.node, caller.statement, caller.scope)
        if use.fate is Fate.READ and not is_beside_the_point(facts, caller):
            return Exposure(site.node, "returned", use.node, scope.name)
    if calls or _is_handed_on(facts, scope.name) or _is_allocator(facts, scope):
        return None
    is_output = scope.name == "forward" and is_module_class(facts, scope.parent)
    return Exposure(site.node, "output" if is_output else "unseen", statement, scope.name)


def _is_allocator(facts: FileFacts, function: Scope) -> bool:
    """Whether a function, or the class of a method, is named for making memory: `NewEmptyTensor.forward`."""
    owner = facts.reading.scopes[function.parent or 0].name.lower()
    return _ALLOCATING.search(function.name.lower()) is not None or "empty" in owner or "alloc" in owner


def _is_handed_on(facts: FileFacts, function: str) -> bool:
    """Whether a function is given to another one, which may register it as a stand-in."""
    return any(last_word(argument) == function for site in facts.reading.calls for argument in all_given(site.node))
