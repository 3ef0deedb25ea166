"""TL308 legacy-worker-seeding: before torch 1.9 every loader worker draws the same numbers from NumPy."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from msgspec.structs import replace

from torchlint.catalogue.versions import VersionRange
from torchlint.checks.data_loading.worker_shared_generator import loader_with_workers
from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.visit import Visit
from torchlint.diagnostics import Related
from torchlint.facts.data_loading.kept_generators import global_draws
from torchlint.facts.file import FileFacts
from torchlint.facts.scopes import CallSite
from torchlint.project.index import Project

_CODE = "TL308"
_LEGACY = VersionRange.parse("<1.9")
_SEVERAL = 2


def _judge(draft: Draft, project: Project) -> Draft | None:
    """Only for a project whose requirements admit nothing newer; a single worker repeats nobody."""
    target = project.target_for(draft.path)
    if not target.pinned or any(release not in _LEGACY for release in target.releases):
        return None
    loader = loader_with_workers(draft, project)
    if loader is None or loader.workers < _SEVERAL:
        return None
    place = Related(loader.location, "the loader whose workers repeat each other")
    values = {**draft.values, **target.words}
    return replace(draft, values=values, related=(*draft.related, place))


def _draws(facts: FileFacts) -> Iterator[CallSite]:
    return (draw.site for draw in facts.cached(global_draws).values())


@check(codes=(_CODE,), triggers=Triggers(sites=_draws), judge=_judge)
def find(visit: Visit) -> Iterator[Finding]:
    """The first draw of a dataset's `__getitem__` from NumPy's global generator."""
    draw = visit.facts.cached(global_draws).get(id(visit.statement))
    if draw is not None and draw.site.node is visit.call:
        yield Finding(_CODE, visit.node, {"spelling": ast.unparse(visit.call.func), "classes": "|".join(draw.classes)})
