"""TL606 unpinned-nonblocking: batches that are copied without blocking, from memory that is not pinned."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from torchlint.checks.registration import Finding, Vocabulary, check
from torchlint.checks.spelling import shortened
from torchlint.checks.visit import Visit
from torchlint.facts.data_loading.unpinned_loaders import unpinned_loaders
from torchlint.facts.data_loading.workers import LOADER
from torchlint.facts.file import FileFacts
from torchlint.facts.scopes import CallSite

_CODE = "TL606"


def _is_unpinned(facts: FileFacts, site: CallSite, selected: frozenset[str]) -> bool:
    return _CODE in selected and id(site.node) in facts.once(unpinned_loaders)


@check(cst.Call, codes=(_CODE,), vocabulary=Vocabulary(calls=frozenset({LOADER}), worth=_is_unpinned))
def find(visit: Visit) -> Iterator[Finding]:
    """The loader, where the cure belongs; the first copy of what it loads is told beside it."""
    found = visit.facts.once(unpinned_loaders).get(id(visit.call))
    if found is not None:
        values = {"loader": shortened(ast.unparse(visit.call.func))}
        yield Finding(_CODE, visit.node, values, related=((found.copy, "here a batch is copied"),))
