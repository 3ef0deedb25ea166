"""What trains: backward passes, steps of an optimizer, and trainers of libraries that do both."""

from __future__ import annotations

import ast
import enum
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from torchlint.facts.functions import own_scope
from torchlint.facts.places import Place, place_of
from torchlint.facts.training.optimizers import holds_optimizer, is_optimizer
from torchlint.facts.training.steps_by_hand import MOVING, steps_by_hand, steps_in_place
from torchlint.facts.tree import last_word, method_called
from torchlint.facts.values import argument_of, may_be_hidden

if TYPE_CHECKING:
    from torchlint.catalogue.programs import ModeSwitch
    from torchlint.facts.file import FileFacts
    from torchlint.facts.full_names import Names
    from torchlint.facts.scopes import CallSite

BACKWARD = frozenset({"backward", "manual_backward"})
_SCALER = "scaler"
_TRAINING = BACKWARD | {"step"} | MOVING


def goes_backward(facts: FileFacts, scope: int) -> bool:
    """Whether the function around a scope runs a backward pass itself."""
    return any(method_called(site.node) in BACKWARD for site in facts.calls_in(facts.function_of(scope)))


class Part(enum.Enum):
    """What a call does of a training."""

    BACKWARD = "backward"
    STEP = "step"
    WHOLE = "whole"
    SEEDED = "whole, and seeded"
    """A trainer of a library that seeds by itself runs."""
    TRAINER = "trainer"
    """A trainer of a library is made, without an argument for the determinism mode."""
    SEEDER = "seeder"
    """A library seeds that could turn the mode on with it, without an argument for that."""


class Training(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One call that trains, or does a part of it."""

    part: Part
    path: str
    """Of the file, inside its project."""
    symbol: str
    place: Place
    name: str
    """Of what is called, in full or its last word."""


class Trainers(msgspec.Struct, frozen=True):
    """What the catalogue knows of libraries that train."""

    methods: frozenset[str]
    """Methods that train."""
    seeding_methods: frozenset[str]
    """Methods that train, and seed whether asked to or not."""
    switches: dict[str, ModeSwitch]
    """Calls that make a trainer, or its arguments, or that seed, and can turn the determinism mode on."""


def trainings(facts: FileFacts, trainers: Trainers) -> Iterator[Training]:
    """What the calls of a file do of a training."""
    names = trainers.methods | trainers.seeding_methods | trainers.switches.keys()
    words = [word for word in facts.calls.words if word in _TRAINING or _SCALER in word.lower()]
    for site in facts.calls.find(names=names, words=words):
        found = _training(facts, site, facts.names(site.node.func, site.scope), trainers)
        if found is not None:
            yield found


def trainings_by_hand(facts: FileFacts) -> Iterator[Training]:
    """The statements that step without an optimizer."""
    for statement, scope, is_whole in steps_by_hand(facts):
        symbol = facts.symbol_at(scope, statement)
        yield Training(Part.WHOLE if is_whole else Part.STEP, facts.path, symbol, place_of(facts, statement), "")


def _training(facts: FileFacts, site: CallSite, names: Names, trainers: Trainers) -> Training | None:
    if names.names & trainers.methods:
        part: Part | None = Part.WHOLE
    elif names.names & trainers.seeding_methods:
        part = Part.SEEDED
    elif names.only in trainers.switches:
        part = _untold(site.node, trainers.switches[names.only])
    else:
        part = _part(facts, site.node, site.scope)
    if part is None:
        return None
    name = names.only or method_called(site.node)
    return Training(part, facts.path, facts.symbol_of(site), place_of(facts, site.node, site.statement), name)


def _untold(call: ast.Call, switch: ModeSwitch) -> Part | None:
    """What a call makes or does without an argument for the mode; None where it is told, or may be."""
    if argument_of(call, switch.argument, switch.position) is not None or may_be_hidden(call, switch.position):
        return None
    return Part.TRAINER if switch.makes_trainer else Part.SEEDER


def _part(facts: FileFacts, call: ast.Call, scope: int) -> Part | None:
    if _scales_and_steps(facts, call, scope):
        return Part.WHOLE
    if not isinstance(call.func, ast.Attribute):
        return None
    if call.func.attr in BACKWARD:
        return Part.BACKWARD
    if call.func.attr != "step" or not holds_optimizer(facts, call.func.value, scope):
        return Part.STEP if steps_in_place(facts, call, scope) else None
    return Part.WHOLE if _runs_backward(facts, argument_of(call, "closure", 0), scope) else Part.STEP


def _runs_backward(facts: FileFacts, closure: ast.expr | None, scope: int) -> bool:
    """`optimizer.step(closure)`, as L-BFGS has it."""
    function = None if closure is None else own_scope(facts, facts.names(closure, scope).only or "")
    return function is not None and goes_backward(facts, function)


def _scales_and_steps(facts: FileFacts, call: ast.Call, scope: int) -> bool:
    """`loss_scaler(loss, optimizer, ...)`: an object that is called does both, as timm's scalers do."""
    word = last_word(call.func)
    return _SCALER in word.lower() and len(call.args) > 1 and is_optimizer(facts, call.args[1], scope)
