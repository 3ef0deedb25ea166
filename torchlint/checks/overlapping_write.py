"""TL119 overlapping-write: a write through a view whose elements share memory."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from torchlint.checks.registration import Finding, Vocabulary, check
from torchlint.checks.spelling import shortened, spelling_of
from torchlint.checks.visit import Visit
from torchlint.diagnostics import Confidence, Severity
from torchlint.facts.file import FileFacts
from torchlint.facts.memory.overlaps import WRITING, written_by_call, written_by_statement
from torchlint.facts.memory.views import makes_views
from torchlint.facts.scopes import AssignSite, CallSite

_CODE = "TL119"


def _is_overlapping(facts: FileFacts, site: CallSite, selected: frozenset[str]) -> bool:
    return _CODE in selected and facts.once(makes_views) and written_by_call(facts, site) is not None


def _stores_overlapping(facts: FileFacts, site: AssignSite, selected: frozenset[str]) -> bool:
    return _CODE in selected and facts.once(makes_views) and written_by_statement(facts, site) is not None


@check(
    cst.Call,
    cst.Assign,
    cst.AugAssign,
    codes=(_CODE,),
    vocabulary=Vocabulary(methods=WRITING, worth=_is_overlapping, stores=_stores_overlapping),
)
def find(visit: Visit) -> Iterator[Finding]:
    """The in-place call, or the assignment."""
    if not visit.facts.once(makes_views):
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
