"""TL119 overlapping-write: a write through a view whose elements share memory."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.spelling import shortened, spelling_of
from torchlint.checks.framework.visit import Visit
from torchlint.checks.memory.overlaps import WRITING, written_by_call, written_by_statement
from torchlint.diagnostics import Confidence, Severity
from torchlint.facts.file import FileFacts
from torchlint.facts.scopes import AssignSite, Site
from torchlint.facts.tensors.views import makes_views

_CODE = "TL119"


def _assignments(facts: FileFacts) -> Iterator[Site]:
    """Those of files that make such views."""
    for store in facts.symbols.assign_sites if facts.cached(makes_views) else ():
        yield Site(store.node, store.scope, store.node)


@check(
    codes=(_CODE,),
    triggers=Triggers(methods=WRITING, sites=_assignments),
)
def find(visit: Visit) -> Iterator[Finding]:
    """The in-place call, or the assignment."""
    if not visit.facts.cached(makes_views):
        return
    if isinstance(visit.node, ast.Call):
        write = written_by_call(visit.facts, visit.site)
    else:
        write = written_by_statement(visit.facts, AssignSite(visit.assignment, visit.scope))
    if write is not None:
        yield Finding(
            _CODE,
            visit.node,
            values={"spelling": spelling_of(visit), "view": shortened(ast.unparse(write.view.maker))},
            message=write.how,
            severity=Severity.ERROR if write.how == "raises" else None,
            confidence=None if write.is_certain else Confidence.MEDIUM,
            related=((write.view.maker, "the view whose elements share memory"),),
        )
