"""TL605 zero-grad-fill: gradients filled with zeros where dropping them is cheaper."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from torchlint.checks.registration import Finding, Vocabulary, check
from torchlint.checks.spelling import spelling_of
from torchlint.checks.visit import Visit
from torchlint.facts.file import FileFacts
from torchlint.facts.scopes import CallSite
from torchlint.facts.training.zero_fills import METHODS, fills_with_zeros

_CODE = "TL605"


def _is_fill(facts: FileFacts, site: CallSite, selected: frozenset[str]) -> bool:
    return _CODE in selected and fills_with_zeros(facts, site)


@check(cst.Call, codes=(_CODE,), vocabulary=Vocabulary(methods=METHODS, worth=_is_fill))
def find(visit: Visit) -> Iterator[Finding]:
    """The call that fills."""
    method = visit.call.func.attr if isinstance(visit.call.func, ast.Attribute) else ""
    if method in METHODS and fills_with_zeros(visit.facts, visit.site):
        variant = "default" if visit.call.args or visit.call.keywords else "by_hand"
        yield Finding(_CODE, visit.node, {"spelling": spelling_of(visit)}, variant)
