"""What becomes of a distributed sampler: which loops train on its data, and whether it learns of a new epoch."""

from __future__ import annotations

import ast
import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from torchlint.facts.calls import callers, targets
from torchlint.facts.control.blocks import loops_around
from torchlint.facts.data_loading.workers import LOADERS
from torchlint.facts.functions import is_method
from torchlint.facts.options.escapes import Carrier, Follower
from torchlint.facts.options.recording import is_recorded
from torchlint.facts.reaching import reaching
from torchlint.facts.scopes import Binding, BindingKind
from torchlint.facts.training.steps import BACKWARD
from torchlint.facts.tree import method_called

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts


class Role(enum.Enum):
    """What a followed object is."""

    SAMPLER = "sampler"
    LOADER = "loader"
    WRAPPED = "wrapped"
    """A loader inside `enumerate` or a progress bar."""


_SAMPLER_AT = {"sampler": 3, "batch_sampler": 4}
"""Positions in `DataLoader` (torch 2.13.0, utils/data/dataloader.py)."""
_BATCH_SAMPLER = "torch.utils.data.BatchSampler"
_WRAPPERS = frozenset({"builtins.enumerate", "builtins.zip", "tqdm.tqdm", "tqdm.auto.tqdm", "rich.progress.track"})
_ATTRIBUTES = {
    Role.SAMPLER: frozenset({"num_samples", "total_size", "num_replicas", "rank", "dataset", "drop_last"}),
    Role.LOADER: frozenset({"dataset", "batch_size", "num_workers", "drop_last", "collate_fn"}),
}
_INNER = {"sampler": Role.SAMPLER, "batch_sampler": Role.SAMPLER}


@dataclass(slots=True)
class SamplerFollower(Follower):
    """Follows a sampler to the loops over its data."""

    loops: list[ast.For] = field(default_factory=list)

    def held(self, found: Carrier, owner: int, name: str) -> list[Carrier]:
        """Names are used again for the next loader: only reads that this value may reach count."""
        kept = []
        for read in self.tree.reads(owner, name):
            bindings = reaching(self.facts, name, self.tree.scope_of(read), read.lineno)
            if any(_may_bind(binding, found.node) for binding in bindings):
                kept.append(found.at(read))
        return kept

    def kept(self, found: Carrier, target: ast.Attribute) -> list[Carrier] | None:
        return self.kept_on_self(found, target)

    def used(self, found: Carrier, parent: ast.AST) -> list[Carrier] | None:
        if isinstance(parent, ast.For) and parent.iter is found.node:
            self.loops.append(parent)
            return []
        if isinstance(parent, ast.Attribute):
            return self._member(found, parent)
        if isinstance(parent, ast.Call | ast.keyword):
            return self._into_call(found, parent)
        is_asked = isinstance(parent, ast.Compare | ast.If | ast.IfExp | ast.UnaryOp | ast.comprehension)
        return [] if is_asked or is_recorded(self.facts, found.node) else None

    def _member(self, found: Carrier, member: ast.Attribute) -> list[Carrier] | None:
        if found.role is Role.WRAPPED:
            return []
        if found.role is Role.LOADER and member.attr in _INNER:
            return [Carrier(member, _INNER[member.attr])]
        is_read = isinstance(member.ctx, ast.Load) and member.attr in _ATTRIBUTES[Role(found.role)]
        return [] if is_read else None

    def _into_call(self, found: Carrier, parent: ast.Call | ast.keyword) -> list[Carrier] | None:
        keyword = parent.arg if isinstance(parent, ast.keyword) else None
        call = self.tree.parents[parent] if isinstance(parent, ast.keyword) else parent
        if not isinstance(call, ast.Call) or call.func is found.node:
            return None
        name = self.facts.names(call.func, self.tree.scope_of(call)).only
        if name == "builtins.len" or is_recorded(self.facts, found.node):
            return []
        if found.role is not Role.SAMPLER:
            return [Carrier(call, Role.WRAPPED)] if name in _WRAPPERS else None
        if name == _BATCH_SAMPLER:
            return [found.at(call)]
        if name not in LOADERS:
            return None
        places = [_SAMPLER_AT[word] for word in _SAMPLER_AT if keyword == word]
        places += [index for index, one in enumerate(call.args) if one is found.node]
        return [Carrier(call, Role.LOADER)] if places and places[0] in _SAMPLER_AT.values() else None


def trained_epochs(facts: FileFacts, sampler: ast.Call, statement: ast.stmt) -> tuple[ast.For, SamplerFollower] | None:
    """A loop that trains on the data of `sampler`, run once for each epoch; None where not all of its way is seen."""
    follower = SamplerFollower(facts)
    if not follower.keeps([Carrier(sampler, Role.SAMPLER)]):
        return None
    for loop in follower.loops:
        if _trains(follower, loop) and _is_repeated(follower, loop, statement):
            return loop, follower
    return None


def _may_bind(binding: Binding, value: ast.expr) -> bool:
    is_other = binding.kind in (BindingKind.ASSIGN, BindingKind.PART) and binding.value is not None
    return not is_other or value in ast.walk(binding.value)  # type: ignore[arg-type]


def _trains(follower: SamplerFollower, loop: ast.For) -> bool:
    """Whether a loop's body runs a backward pass, also in functions and methods of this file that it calls."""
    waiting: list[ast.AST] = [loop]
    seen: set[ast.AST] = set()
    while waiting:
        part = waiting.pop()
        if part in seen:
            continue
        seen.add(part)
        calls = [node for node in ast.walk(part) if isinstance(node, ast.Call)]
        if any(method_called(call) in BACKWARD for call in calls):
            return True
        run = (target for call in calls for target in targets(follower.facts, call, follower.tree.scope_of(call)))
        waiting += [target.function.node for target in run]
    return False


def _is_repeated(follower: SamplerFollower, inner: ast.stmt, made: ast.stmt) -> bool:
    """Whether a statement runs in a loop that began after the sampler was made."""
    facts = follower.facts
    around = set(loops_around(facts, made))
    waiting, seen = [inner], set()
    while waiting:
        statement = waiting.pop()
        if any(loop not in around for loop in loops_around(facts, statement)):
            return True
        function = facts.function_of(facts.reading.scope_of[statement])
        if function is not None and function not in seen:
            seen.add(function)
            calls = list(follower.entered.get(function, []))
            if is_method(facts, facts.reading.scopes[function]):
                calls += [site.node for site, _ in callers(facts, function)]
            waiting += [follower.tree.statement_of(call) for call in calls]
    return False
