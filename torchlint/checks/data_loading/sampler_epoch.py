"""TL405 sampler-epoch: a distributed sampler that never learns which epoch it is."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from torchlint.checks.data_loading.sampled_epochs import SAMPLER, SamplerAnalysis
from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.spelling import spelling_of
from torchlint.checks.framework.visit import Visit
from torchlint.diagnostics import Related
from torchlint.facts.entries import is_beside_training
from torchlint.facts.flow.tracker import follow
from torchlint.facts.flow.values import Value
from torchlint.facts.tree import targets_of, words_in
from torchlint.facts.words import says
from torchlint.project.index import Project

_CODE = "TL405"
_SAMPLER = "torch.utils.data.DistributedSampler"
_READ = "each epoch reads the same order here"
_SHUFFLE = 3
"""Position of `shuffle` (torch 2.13.0, utils/data/distributed.py)."""


def _judge(draft: Draft, project: Project) -> Draft | None:
    """Whether the sampler also stays untold, and in sight, where other files get at it."""
    if is_beside_training(draft.path):
        return None
    analyses = project.flows.contained(draft.exits, SamplerAnalysis)
    if analyses is None:
        return None
    if draft.related:
        return draft
    loops = ((one.facts, loop) for one in analyses if (loop := one.trained()) is not None)
    return next((replace(draft, related=(Related(facts.locate(loop.iter), _READ),)) for facts, loop in loops), None)


@check(codes=(_CODE,), triggers=Triggers(calls=frozenset({_SAMPLER})), judge=_judge)
def find(visit: Visit) -> Iterator[Finding]:
    """`DistributedSampler(...)` that shuffles, for a loader that a training loop runs through epoch after epoch."""
    if visit.callee() != _SAMPLER:
        return
    shuffle = visit.argument("shuffle", _SHUFFLE)
    if (shuffle is not None and shuffle.constants != (True,)) or _evaluates(visit):
        return
    analysis = SamplerAnalysis(visit.facts)
    flow = follow(analysis, Value(visit.call, label=SAMPLER))
    loop = analysis.trained()
    if flow.is_contained and (loop is not None or flow.exits):
        related = () if loop is None else ((loop.iter, _READ),)
        yield Finding(_CODE, visit.node, {"spelling": spelling_of(visit)}, related=related, exits=tuple(flow.exits))


def _evaluates(visit: Visit) -> bool:
    """Whether the names around say that the data is for evaluation."""
    words = words_in(*targets_of(visit.statement), *visit.call.args[:1])
    return any(says(word, "evaluation") for word in words)
