"""What trains: backward passes, steps of an optimizer, and trainers of libraries that do both."""

from __future__ import annotations

import ast
import enum
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchlint.facts.places import Place, place_of
from torchlint.facts.values import argument_of, may_be_hidden

if TYPE_CHECKING:
    from torchlint.catalogue.registry import ModeSwitch
    from torchlint.facts.file import FileFacts
    from torchlint.facts.names import Names
    from torchlint.facts.scopes import CallSite

_STEPPING = re.compile(r"opt|scaler|solver|sgd|adam|accelerator|engine", re.IGNORECASE)
"""What an optimizer is called; schedulers and environments have a `step` as well."""
BACKWARD = frozenset({"backward", "manual_backward"})


class Part(enum.Enum):
    """What a call does of a training."""

    BACKWARD = "backward"
    STEP = "step"
    WHOLE = "whole"
    TRAINER = "trainer"
    """A trainer of a library is made, without a word about the determinism mode."""
    SEEDER = "seeder"
    """A library seeds that could turn the mode on with it, without a word about that."""


@dataclass(frozen=True, slots=True)
class Training:
    """One call that trains, or does a part of it."""

    part: Part
    path: str
    """Of the file, inside its project."""
    symbol: str
    place: Place
    name: str
    """Of what is called, in full or its last word."""


@dataclass(frozen=True, slots=True)
class Trainers:
    """What the catalogue knows of libraries that train."""

    methods: frozenset[str]
    """Methods that train."""
    switches: dict[str, ModeSwitch]
    """Calls that make a trainer, or its arguments, or that seed, and can turn the determinism mode on."""


def training(facts: FileFacts, site: CallSite, names: Names, trainers: Trainers) -> Training | None:
    """What a call does of a training, if anything."""
    if names.names & trainers.methods:
        part: Part | None = Part.WHOLE
    elif names.only in trainers.switches:
        part = _untold(site.node, trainers.switches[names.only])
    else:
        part = _part(facts, site.node, site.scope)
    if part is None:
        return None
    name = names.only or (site.node.func.attr if isinstance(site.node.func, ast.Attribute) else "")
    return Training(part, facts.path, facts.symbol_of(site), place_of(facts, site.node, site.statement), name)


def _untold(call: ast.Call, switch: ModeSwitch) -> Part | None:
    """What a call makes or does without a word about the mode; None where it is told, or may be."""
    if argument_of(call, switch.argument, switch.position) is not None or may_be_hidden(call, switch.position):
        return None
    return Part.TRAINER if switch.makes_trainer else Part.SEEDER


def _part(facts: FileFacts, call: ast.Call, scope: int) -> Part | None:
    if not isinstance(call.func, ast.Attribute):
        return None
    if call.func.attr in BACKWARD:
        return Part.BACKWARD
    return Part.STEP if call.func.attr == "step" and _is_optimizer(facts, call.func.value, scope) else None


def _is_optimizer(facts: FileFacts, owner: ast.expr, scope: int) -> bool:
    word = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
    if _STEPPING.search(word):
        return True
    return any(name.startswith("torch.optim.") for name in facts.names(owner, scope).names)
