"""TL605 zero-grad-fill: gradients filled with zeros where dropping them is cheaper."""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.spelling import spelling_of
from torchlint.checks.framework.visit import Visit
from torchlint.checks.training.zero_fills import METHODS, fills_with_zeros
from torchlint.facts.tree import method_called

_CODE = "TL605"


@check(codes=(_CODE,), triggers=Triggers(methods=METHODS))
def find(visit: Visit) -> Iterator[Finding]:
    """The call that fills."""
    method = method_called(visit.call)
    if method in METHODS and fills_with_zeros(visit.facts, visit.site):
        variant = "default" if visit.call.args or visit.call.keywords else "by_hand"
        yield Finding(_CODE, visit.node, {"spelling": spelling_of(visit)}, variant)
