"""What trains: backward passes, steps of an optimizer, and trainers of libraries that do both."""

from __future__ import annotations

import ast
import enum
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchlint.facts.places import Place, place_of

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts
    from torchlint.facts.names import Names
    from torchlint.facts.scopes import CallSite

_STEPPING = re.compile(r"opt|scaler|solver|sgd|adam|accelerator|engine", re.IGNORECASE)
"""What an optimizer is called; schedulers and environments have a `step` as well."""
_BACKWARD = frozenset({"backward", "manual_backward"})


class Part(enum.Enum):
    """What a call does of a training."""

    BACKWARD = "backward"
    STEP = "step"
    WHOLE = "whole"


@dataclass(frozen=True, slots=True)
class Training:
    """One call that trains, or does a part of it."""

    part: Part
    path: str
    """Of the file, inside its project."""
    symbol: str
    place: Place


def training(facts: FileFacts, site: CallSite, names: Names, trainers: frozenset[str]) -> Training | None:
    """What a call does of a training, if anything; `trainers` are the methods of libraries that train."""
    if names.names & trainers:
        part: Part | None = Part.WHOLE
    else:
        part = _part(facts, site.node, site.scope)
    return None if part is None else Training(part, facts.path, facts.symbol_of(site), place_of(facts, site.node))


def _part(facts: FileFacts, call: ast.Call, scope: int) -> Part | None:
    if not isinstance(call.func, ast.Attribute):
        return None
    if call.func.attr in _BACKWARD:
        return Part.BACKWARD
    return Part.STEP if call.func.attr == "step" and _is_optimizer(facts, call.func.value, scope) else None


def _is_optimizer(facts: FileFacts, owner: ast.expr, scope: int) -> bool:
    word = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
    if _STEPPING.search(word):
        return True
    return any(name.startswith("torch.optim.") for name in facts.names(owner, scope).names)
