"""TL311 reseed-in-loop: random numbers that start anew in every round."""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.spelling import spelling_of
from torchlint.checks.framework.visit import Visit
from torchlint.checks.randomness.reseeding import reseeds
from torchlint.facts.file import FileFacts
from torchlint.facts.scopes import CallSite
from torchlint.project.index import Project

_CODE = "TL311"
_VARIANTS = {"forward": "forward", "__getitem__": "item", "loop": "default"}


def _judge(draft: Draft, project: Project) -> Draft | None:
    """Random numbers matter to us only where torch is at work."""
    return draft if project.uses_torch(draft.path) else None


def _reseeding(facts: FileFacts) -> Iterator[CallSite]:
    return (reseed.site for reseed in facts.cached(reseeds).values())


@check(codes=(_CODE,), triggers=Triggers(sites=_reseeding), judge=_judge)
def find(visit: Visit) -> Iterator[Finding]:
    """A seeding call with the same seed in each round of a training, each batch or each item."""
    reseed = visit.facts.cached(reseeds).get(visit.call)
    if reseed is not None:
        values = {"spelling": spelling_of(visit)}
        yield Finding(
            _CODE, visit.node, values, _VARIANTS[reseed.where], related=((reseed.again, "it runs each time"),)
        )
