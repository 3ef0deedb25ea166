"""TL405 sampler-epoch: a distributed sampler that never learns which epoch it is."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.visit import Visit, spelling_of
from torchlint.diagnostics import Related
from torchlint.facts.calls import callers, targets
from torchlint.facts.control.blocks import loops_around
from torchlint.facts.data_loading.loaders import LOADERS
from torchlint.facts.entries import is_beside_training
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.containment import Containment, is_recorded, lost
from torchlint.facts.flow.tracker import Sink, follow
from torchlint.facts.flow.values import Move, Value
from torchlint.facts.functions import is_method
from torchlint.facts.graphs import each_once
from torchlint.facts.training.steps import BACKWARD
from torchlint.facts.tree import method_called, targets_of, words_in
from torchlint.facts.values import argument_of, may_be_hidden
from torchlint.facts.words import says
from torchlint.project.index import Project

_CODE = "TL405"
_SAMPLER = "torch.utils.data.DistributedSampler"
_READ = "each epoch reads the same order here"
_SHUFFLE = 3
"""Position of `shuffle` (torch 2.13.0, utils/data/distributed.py)."""
SAMPLER, _LOADER, _WRAPPED = "sampler", "loader", "wrapped"
"""What a followed object is; the last, a loader inside `enumerate` or a progress bar."""

_SAMPLER_AT = {"sampler": 3, "batch_sampler": 4}
"""Positions in `DataLoader` (torch 2.13.0, utils/data/dataloader.py)."""
_BATCH_SAMPLER = "torch.utils.data.BatchSampler"
_WRAPPERS = frozenset({"builtins.enumerate", "builtins.zip", "tqdm.tqdm", "tqdm.auto.tqdm", "rich.progress.track"})
_ATTRIBUTES = {
    SAMPLER: frozenset({"num_samples", "total_size", "num_replicas", "rank", "dataset", "drop_last"}),
    _LOADER: frozenset({"dataset", "batch_size", "num_workers", "drop_last", "collate_fn"}),
}


def _judge(draft: Draft, project: Project) -> Draft | None:
    """Whether the sampler also stays untold, and in sight, where other files get at it."""
    if is_beside_training(draft.path):
        return None
    analyses = project.flows.contained(draft.exits, _SamplerAnalysis)
    if analyses is None:
        return None
    if draft.related:
        return draft
    loops = ((one.facts, loop) for one in analyses if (loop := one.trained()) is not None)
    return next((replace(draft, related=(Related(facts.locate(loop.iter), _READ),)) for facts, loop in loops), None)


@check(codes=(_CODE,), triggers=Triggers(calls=frozenset({_SAMPLER})), judge=_judge)
def find(visit: Visit) -> Iterator[Finding]:
    """`DistributedSampler(...)` that shuffles, for a loader that a training loop runs through epoch after epoch."""
    words = words_in(*targets_of(visit.statement), *visit.call.args[:1])
    if visit.callee() != _SAMPLER or any(says(word, "evaluation") for word in words):
        return
    shuffle = argument_of(visit.call, "shuffle", _SHUFFLE)
    is_hidden = shuffle is None and may_be_hidden(visit.call, _SHUFFLE)
    if is_hidden or (shuffle is not None and visit.value(shuffle).constants != (True,)):
        return
    analysis = _SamplerAnalysis(visit.facts)
    flow = follow(analysis, Value(visit.call, label=SAMPLER))
    loop = analysis.trained()
    if flow.is_contained and (loop is not None or flow.exits):
        related = () if loop is None else ((loop.iter, _READ),)
        yield Finding(_CODE, visit.node, {"spelling": spelling_of(visit)}, related=related, exits=tuple(flow.exits))


class _SamplerAnalysis(Containment):
    """Follows a sampler to the loops over its data."""

    def __init__(self, facts: FileFacts) -> None:
        super().__init__(facts)
        self._around: set[ast.AST] = set()
        """The loops around the calls that make the sampler: each of their rounds has another one."""
        self._entered: set[ast.AST] = set()
        """The calls that got it."""
        self._loops: list[tuple[ast.For, Value]] = []

    def beyond(self, move: Move) -> Iterator[Move | Sink]:
        if isinstance(move, Value):
            above = self.facts.index.parents[move.node]
            self._entered.add(self.facts.index.parents[above] if isinstance(above, ast.keyword) else above)
            if isinstance(move.node, ast.Call) and move.node not in self._entered:
                self._around |= set(loops_around(self.facts, self.facts.index.statement_of(move.node)))
        return super().beyond(move)

    def steps(self, value: Value) -> Iterable[Move | Sink]:
        above = self.facts.index.parents[value.node]
        if isinstance(above, ast.For) and above.iter is value.node:
            self._loops.append((above, value))
            return ()
        if isinstance(above, ast.Attribute):
            if value.label == _LOADER and above.attr in _SAMPLER_AT:
                return [replace(value, node=above, label=SAMPLER)]
            is_read = isinstance(above.ctx, ast.Load) and above.attr in _ATTRIBUTES.get(value.label, ())
            return () if is_read or value.label == _WRAPPED else [lost(above)]
        if isinstance(above, (ast.Call, ast.keyword)):
            keyword = above.arg if isinstance(above, ast.keyword) else None
            call = self.facts.index.parents[above] if isinstance(above, ast.keyword) else above
            if not isinstance(call, ast.Call) or call.func is value.node or is_recorded(self.facts, value.node):
                return self.passes(value)
            name = self.facts.names(call.func, self.facts.index.scope_of(call)).only
            if value.label != SAMPLER:
                return [replace(value, node=call, label=_WRAPPED)] if name in _WRAPPERS else self.passes(value)
            if name == _BATCH_SAMPLER:
                return [value.at(call)]
            if name not in LOADERS:
                return self.passes(value)
            place = call.args.index(value.node) if keyword is None else _SAMPLER_AT.get(keyword)
            is_taken = place in _SAMPLER_AT.values()
            return [replace(value, node=call, label=_LOADER)] if is_taken else [lost(value.node)]
        return () if isinstance(above, ast.comprehension) else self.passes(value)

    def trained(self) -> ast.For | None:
        """A loop that trains on the data, run once for each epoch."""
        found = (loop for loop, value in self._loops if self._trains(loop) and self._is_repeated(loop, value))
        return next(found, None)

    def _trains(self, loop: ast.For) -> bool:
        """Whether a loop's body runs a backward pass, also in functions and methods of this file that it calls."""
        waiting = deque[ast.AST]([loop])
        for part in each_once(waiting):
            calls = [node for node in ast.walk(part) if isinstance(node, ast.Call)]
            if any(method_called(call) in BACKWARD for call in calls):
                return True
            scope_of = self.facts.index.scope_of
            waiting += [one.function.node for call in calls for one in targets(self.facts, call, scope_of(call))]
        return False

    def _is_repeated(self, inner: ast.For, value: Value) -> bool:
        """Whether a loop runs in another that began after the sampler was made."""
        facts = self.facts
        waiting = [inner, *(facts.index.statement_of(call) for call in value.calls)]
        seen = set()
        while waiting:
            statement = waiting.pop()
            if any(loop not in self._around for loop in loops_around(facts, statement)):
                return True
            function = facts.function_of(facts.symbols.scope_of[statement])
            if function is not None and function not in seen and is_method(facts, facts.symbols.scopes[function]):
                seen.add(function)
                waiting += [site.statement for site, _ in callers(facts, function)]
        return False
