"""TL404 completion-order: results in the order in which tasks happen to finish."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.spelling import shortened
from torchlint.checks.framework.visit import Visit
from torchlint.checks.order.order_findings import in_files, judged_by, sink_places, sink_values
from torchlint.checks.order.results import ResultsAnalysis
from torchlint.checks.order.workers.collecting import collected, gathered, loop_around
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.tracker import Flow, follow
from torchlint.facts.order.analysis import started
from torchlint.facts.scopes import CallSite
from torchlint.facts.tree import is_method_call

_CODE = "TL404"
FUNCTIONS = frozenset({"concurrent.futures.as_completed", "asyncio.as_completed", "dask.distributed.as_completed"})
METHODS = frozenset({"imap_unordered", "map_unordered"})
"""Of the pools of multiprocessing, torch and Ray; nothing else has methods of these names."""
WAITING = frozenset({"ray.wait"})
"""What is called again and again for the tasks that have finished since."""


def _flow(facts: FileFacts, site: CallSite) -> Flow:
    """What the order decides in which the results of a call come."""
    if not is_method_call(site.node, *METHODS) and facts.names(site.node.func, site.scope).only not in FUNCTIONS:
        return Flow()
    return follow(ResultsAnalysis(facts), started(facts, site.node))


@check(
    codes=(_CODE,),
    triggers=Triggers(calls=FUNCTIONS, methods=METHODS),
    judge=judged_by(ResultsAnalysis),
)
def find(visit: Visit) -> Iterator[Finding]:
    """Tasks whose results are collected as they finish, and then used by their place."""
    flow = _flow(visit.facts, visit.site)
    exits = in_files(flow)
    if flow.sink is not None or exits:
        values = {"call": shortened(ast.unparse(visit.call.func)), **sink_values(visit, flow)}
        yield Finding(_CODE, visit.node, values, related=sink_places(flow), exits=exits)


@check(codes=(_CODE,), triggers=Triggers(calls=WAITING), judge=judged_by(ResultsAnalysis))
def from_waiting(visit: Visit) -> Iterator[Finding]:
    """Tasks whose results a loop collects as they finish, and which are then used by their place."""
    flow = gathered(visit.facts, visit.site, loop_around(visit.facts, visit.site))
    exits = in_files(flow)
    if flow.sink is not None or exits:
        values = {"call": shortened(ast.unparse(visit.call.func)), **sink_values(visit, flow)}
        yield Finding(_CODE, visit.node, values, related=sink_places(flow), exits=exits)


def _collected(facts: FileFacts) -> Iterator[CallSite]:
    return (found.site for found in facts.cached(collected).values())


@check(codes=(_CODE,), triggers=Triggers(sites=_collected), judge=judged_by(ResultsAnalysis))
def from_queue(visit: Visit) -> Iterator[Finding]:
    """Results that several workers put into one queue, collected as they come and then used by their place."""
    found = visit.facts.cached(collected).get(visit.call)
    if found is not None:
        values = {"call": shortened(ast.unparse(visit.call.func)), **sink_values(visit, found.flow)}
        line = None if found.loop is None else found.loop.lineno
        places, exits = sink_places(found.flow), in_files(found.flow)
        yield Finding(_CODE, visit.node, values, "queue", related=places, exits=exits, line=line)
