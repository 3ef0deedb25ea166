"""TL405 sampler-epoch: a distributed sampler that never learns which epoch it is."""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.checks.data_loading.sampled_epochs import trained_epochs
from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.spelling import spelling_of
from torchlint.checks.framework.visit import Visit
from torchlint.facts.entries import is_beside_training
from torchlint.facts.tree import targets_of, words_in
from torchlint.facts.words import says
from torchlint.project.imports import is_reached
from torchlint.project.index import Project

_CODE = "TL405"
_SAMPLER = "torch.utils.data.DistributedSampler"
_SHUFFLE = 3
"""Position of `shuffle` (torch 2.13.0, utils/data/distributed.py)."""


def _judge(draft: Draft, project: Project) -> Draft | None:
    """Loaders that a file gets at by importing this one are silent."""
    if is_beside_training(draft.path):
        return None
    return None if is_reached(project, draft.path, draft.values["shared"].split()) else draft


@check(codes=(_CODE,), triggers=Triggers(calls=frozenset({_SAMPLER})), judge=_judge)
def find(visit: Visit) -> Iterator[Finding]:
    """`DistributedSampler(...)` that shuffles, for a loader that a training loop runs through epoch after epoch."""
    if visit.callee() != _SAMPLER:
        return
    shuffle = visit.argument("shuffle", _SHUFFLE)
    if (shuffle is not None and shuffle.constants != (True,)) or _evaluates(visit):
        return
    found = trained_epochs(visit.facts, visit.call, visit.statement)
    if found is not None:
        loop, follower = found
        values = {"spelling": spelling_of(visit), "shared": " ".join(sorted(follower.shared))}
        yield Finding(_CODE, visit.node, values, related=((loop.iter, "each epoch reads the same order here"),))


def _evaluates(visit: Visit) -> bool:
    """Whether the names around say that the data is for evaluation."""
    words = words_in(*targets_of(visit.statement), *visit.call.args[:1])
    return any(says(word, "evaluation") for word in words)
