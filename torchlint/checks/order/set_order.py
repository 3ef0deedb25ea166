"""TL402 set-order: the order of a set, which changes with the hash seed, decides something."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.checks.framework.registration import Finding, Triggers, check, sites_of
from torchlint.checks.framework.spelling import shortened
from torchlint.checks.framework.visit import Visit
from torchlint.checks.order.order_findings import finding_of, judged_by
from torchlint.facts.order.analysis import OrderAnalysis
from torchlint.facts.order.salted import set_orders

_CODE = "TL402"


@check(codes=(_CODE,), triggers=Triggers(sites=sites_of(set_orders)), judge=judged_by(OrderAnalysis))
def find(visit: Visit) -> Iterator[Finding]:
    """A set of text (or of objects) whose order reaches ids, an index, a split, a draw or a dataset."""
    flow = visit.facts.cached(set_orders)[visit.node].flow
    yield from finding_of(_CODE, visit, flow, {"what": f"`{shortened(ast.unparse(visit.node))}`"})
