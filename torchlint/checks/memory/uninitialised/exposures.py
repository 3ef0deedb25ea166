"""Uninitialised memory whose values somebody gets: in this file, beyond it, or as a parameter."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchlint.checks.memory.uninitialised.makers import is_beside_the_point
from torchlint.checks.memory.uninitialised.memory import Memory
from torchlint.checks.memory.uninitialised.parameters import may_come_from_elsewhere, parameter_made, reading_of
from torchlint.facts.calls import callers
from torchlint.facts.classes import is_module_class
from torchlint.facts.flow.tracker import follow
from torchlint.facts.flow.values import Exit, Value
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
_READ = "here it is read"


@dataclass(frozen=True, slots=True)
class Exposure:
    """Memory that is read before anything writes it. `how` is the variant of the message."""

    how: str
    places: tuple[tuple[ast.AST, str], ...] = ()
    """The way to where it is read; nothing while that is not known."""
    name: str = ""
    """Of the parameter, or the function that returns it."""
    is_doubtful: bool = False
    """Another file may well fill it."""
    exits: tuple[Exit, ...] = ()
    """It counts only where nobody beyond these fills the memory."""


def exposure(facts: FileFacts, site: CallSite) -> Exposure | None:
    """What a call that makes uninitialised memory exposes."""
    if is_beside_the_point(facts, site):
        return None
    parameter = parameter_made(facts, site)
    if parameter is not None:
        reading = reading_of(facts, parameter)
        if reading is None:
            return None
        is_doubtful = may_come_from_elsewhere(facts, parameter, site)
        return Exposure("parameter", ((reading, _READ),), f"self.{parameter.name}", is_doubtful=is_doubtful)
    memory = Memory(facts, site.node)
    flow = follow(memory, Value(site.node))
    read = memory.exposed
    if not flow.is_whole or (read is None and memory.writes):
        return None
    if read is None:
        return _given_away(facts, site, memory, tuple(flow.exits))
    shown = follow(Memory(facts, site.node, read.node), Value(site.node))
    # Each call of a function that makes memory makes its own: what others do with theirs is nothing to this one.
    exits = (one for one in flow.exits if one.port is not None and memory.reaches_before(one, read))
    return Exposure("default", (*shown.trace, (read.node, _READ)), exits=tuple(exits))


def _given_away(facts: FileFacts, site: CallSite, memory: Memory, exits: tuple[Exit, ...]) -> Exposure | None:
    """Memory that is neither read nor written here: others may read it, or whoever calls `forward`."""
    function = facts.function_of(site.scope)
    is_returned = any(one.function == function and not one.value.path for one in memory.returned)
    if function is None or not is_returned or _is_left_to_callers(facts, function):
        return Exposure("default", exits=exits) if exits else None
    scope = facts.reading.scopes[function]
    is_output = scope.name == "forward" and is_module_class(facts, scope.parent)
    places = ((site.statement, "here it is returned"),)
    return Exposure("output" if is_output else "unseen", places, scope.name, exits=exits)


def _is_left_to_callers(facts: FileFacts, function: int) -> bool:
    """Whether a function is called here, given to another one, which may register it as a stand-in, or an allocator.

    The name says so, or that of its class: `NewEmptyTensor.forward`.
    """
    scope = facts.reading.scopes[function]
    owner = facts.reading.scopes[scope.parent or 0].name.lower()
    is_allocator = _ALLOCATING.search(scope.name.lower()) is not None or "empty" in owner or "alloc" in owner
    return is_allocator or bool(callers(facts, function)) or _is_handed_on(facts, scope)


def _is_handed_on(facts: FileFacts, function: Scope) -> bool:
    given = (one for site in facts.reading.calls for one in all_given(site.node))
    return any(last_word(one) == function.name for one in given)
