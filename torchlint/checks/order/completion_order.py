"""TL404 completion-order: results in the order in which tasks happen to finish."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.checks.framework.registration import Finding, Triggers, check, sites_of
from torchlint.checks.framework.spelling import shortened
from torchlint.checks.framework.visit import Visit
from torchlint.checks.order.order_findings import finding_of, in_files, judged_by
from torchlint.checks.order.results import ResultsAnalysis
from torchlint.checks.order.workers.queues import collected, gathered, loop_around
from torchlint.facts.flow.tracker import Flow, follow
from torchlint.facts.order.analysis import started
from torchlint.facts.tree import is_method_call

_CODE = "TL404"
FUNCTIONS = frozenset({"concurrent.futures.as_completed", "asyncio.as_completed", "dask.distributed.as_completed"})
METHODS = frozenset({"imap_unordered", "map_unordered"})
"""Of the pools of multiprocessing, torch and Ray; nothing else has methods of these names."""
WAITING = frozenset({"ray.wait"})
"""What is called again and again for the tasks that have finished since."""


def _told(visit: Visit, flow: Flow, message: str = "default", line: int | None = None) -> Iterator[Finding]:
    """An order of results that decides something, in the file or in one that it writes for others."""
    call = shortened(ast.unparse(visit.call.func))
    return finding_of(_CODE, visit, flow, {"call": call}, message, exits=in_files(flow), line=line)


@check(
    codes=(_CODE,),
    triggers=Triggers(calls=FUNCTIONS, methods=METHODS),
    judge=judged_by(ResultsAnalysis),
)
def find(visit: Visit) -> Iterator[Finding]:
    """Tasks whose results are collected as they finish, and then used by their place."""
    if is_method_call(visit.call, *METHODS) or visit.callee() in FUNCTIONS:
        yield from _told(visit, follow(ResultsAnalysis(visit.facts), started(visit.facts, visit.call)))


@check(codes=(_CODE,), triggers=Triggers(calls=WAITING), judge=judged_by(ResultsAnalysis))
def from_waiting(visit: Visit) -> Iterator[Finding]:
    """Tasks whose results a loop collects as they finish, and which are then used by their place."""
    yield from _told(visit, gathered(visit.facts, visit.site, loop_around(visit.facts, visit.site)))


@check(codes=(_CODE,), triggers=Triggers(sites=sites_of(collected)), judge=judged_by(ResultsAnalysis))
def from_queue(visit: Visit) -> Iterator[Finding]:
    """Results that several workers put into one queue, collected as they come and then used by their place."""
    found = visit.facts.cached(collected).get(visit.call)
    if found is not None:
        yield from _told(visit, found.flow, "queue", None if found.loop is None else found.loop.lineno)
