"""TL606 unpinned-nonblocking: batches that are copied without blocking, from memory that is not pinned."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.checks.data_loading.unpinned_loaders import unpinned_loaders
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.spelling import shortened
from torchlint.checks.framework.visit import Visit
from torchlint.facts.data_loading.workers import LOADER

_CODE = "TL606"


@check(codes=(_CODE,), triggers=Triggers(calls=frozenset({LOADER})))
def find(visit: Visit) -> Iterator[Finding]:
    """The loader, where the cure belongs; the first copy of what it loads is told beside it."""
    found = visit.facts.once(unpinned_loaders).get(id(visit.call))
    if found is not None:
        values = {"loader": shortened(ast.unparse(visit.call.func))}
        yield Finding(_CODE, visit.node, values, related=((found.copy, "here a batch is copied"),))
