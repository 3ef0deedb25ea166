"""TL403 salted-hash: `hash()` of text decides a seed, a split, a bucket or a file name."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.spelling import shortened
from torchlint.checks.framework.visit import Visit
from torchlint.facts.flow.tracker import follow
from torchlint.facts.flow.values import Value
from torchlint.facts.order.salted import HashAnalysis, is_salted_hash

_CODE = "TL403"
_HASH = "builtins.hash"


@check(codes=(_CODE,), triggers=Triggers(calls=frozenset({_HASH})))
def find(visit: Visit) -> Iterator[Finding]:
    """A hash of text whose value is seen to decide something that must not change between runs."""
    if not is_salted_hash(visit.facts, visit.site):
        return
    flow = follow(HashAnalysis(visit.facts), Value(visit.call))
    if flow.sink is not None:
        values = {"argument": shortened(ast.unparse(visit.call.args[0])), "use": flow.sink.what}
        is_elsewhere = flow.sink.node is not visit.call
        places = (*flow.trace, (flow.sink.node, f"here it decides {flow.sink.what}")) if is_elsewhere else ()
        yield Finding(_CODE, visit.node, values, related=places)
