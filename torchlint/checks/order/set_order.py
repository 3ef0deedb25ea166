"""TL402 set-order: the order of a set, which changes with the hash seed, decides something."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.spelling import shortened
from torchlint.checks.framework.visit import Visit
from torchlint.checks.order.order_findings import judged_by, sink_places, sink_values
from torchlint.facts.order.analysis import OrderAnalysis
from torchlint.facts.order.salted import ORDERING, SET_MAKERS, set_orders

_CODE = "TL402"


@check(
    codes=(_CODE,),
    triggers=Triggers(calls=SET_MAKERS | ORDERING),
    judge=judged_by(OrderAnalysis),
)
def find(visit: Visit) -> Iterator[Finding]:
    """A set of text (or of objects) whose order reaches ids, an index, a split, a draw or a dataset."""
    order = visit.facts.once(set_orders).get(id(visit.call))
    if order is not None:
        what = visit.call if visit.callee() in SET_MAKERS else visit.call.args[0]
        values = {"what": f"`{shortened(ast.unparse(what))}`", **sink_values(order.flow)}
        places, exits = sink_places(order.flow), tuple(order.flow.exits)
        yield Finding(_CODE, visit.node, values, related=places, exits=exits)
