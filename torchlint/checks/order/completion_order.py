"""TL404 completion-order: results in the order in which tasks happen to finish."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Iterator

from torchlint.catalogue.load import load_orders
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.visit import Visit, shortened
from torchlint.checks.order.orders import finding_of, judge_open, judged_by, used
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.tracker import Sink, follow
from torchlint.facts.flow.values import Kept, Move, Value, Written
from torchlint.facts.notation import is_result, maker_of
from torchlint.facts.order.analysis import OrderAnalysis, started
from torchlint.facts.order.files import SPELLED
from torchlint.facts.order.loops import ROWS, SPLIT, filled, filled_by_number, names_bound
from torchlint.facts.order.places import is_only_reduced
from torchlint.facts.scopes import CallSite
from torchlint.facts.tree import is_method_call, names_in
from torchlint.facts.values import starter_of

_CODE = "TL404"
FUNCTIONS = frozenset({"concurrent.futures.as_completed", "asyncio.as_completed", "dask.distributed.as_completed"})
METHODS = frozenset({"imap_unordered", "map_unordered"})
"""Of the pools of multiprocessing, torch and Ray; nothing else has methods of these names."""
WAITING = frozenset({"ray.wait"})
"""What is called again and again for the tasks that have finished since."""
_POOLS = frozenset(
    {"concurrent.futures.ThreadPoolExecutor", "multiprocessing.pool.ThreadPool", "multiprocessing.dummy.Pool"}
)
"""Threads that share everything, generators among it."""
_SHARED = frozenset(
    f"{package}.{name}"
    for package in ("multiprocessing", "torch.multiprocessing")
    for name in ("Array", "Manager", "Value")
)
"""What several processes write: each finds what those before it left."""
_QUEUES = frozenset(
    f"{package}.{kind}"
    for package in ("queue", "multiprocessing", "multiprocessing.Manager()", "multiprocessing.get_context()")
    for kind in ("Queue", "SimpleQueue", "JoinableQueue")
)
# Neither `LifoQueue` nor `PriorityQueue`: one has an order of its own, and nobody collects with the other.


class ResultsAnalysis(OrderAnalysis):
    """Where the order decides something in which results come: they get joined to their inputs, or stacked."""

    def __init__(self, facts: FileFacts) -> None:
        super().__init__(facts)
        self._side_by_side: set[str] = set()
        """The lists that one loop fills, as they are written: one may hold the places of the others' rows."""

    def steps(self, value: Value) -> Iterable[Move | Sink]:
        above = self.facts.index.parents.get(value.node)
        if value.label != SPELLED and isinstance(above, ast.List):  # of tables that are put side by side
            return [value.at(above)]
        return super().steps(value)

    def called(self, value: Value, call: ast.Call) -> Iterable[Move | Sink]:
        name = self.facts.names(call.func, self.facts.index.scope_of(call)).only
        if name in load_orders().stacks or name in load_orders().arrays:
            is_harmless = len(self._side_by_side) > 1 or is_only_reduced(self.facts, call)
            return () if is_harmless else [Sink(ROWS, call)]
        return super().called(value, call)

    def is_paired(self, call: ast.Call, below: ast.expr) -> bool:
        """Whether `zip` pairs results with what came in another order."""
        others = [one for one in call.args if one is not below]
        numbers = load_orders().numbers | {"itertools.repeat"}
        scope = self.facts.index.scope_of(call)
        calls = [self.facts.names(one.func, scope).only for one in others if isinstance(one, ast.Call)]
        is_beside = any(ast.unparse(one) in self._side_by_side for one in others)
        return not is_beside and not any(one in numbers for one in calls)

    def sliced(self, value: Value, above: ast.Subscript, *, is_whole: bool) -> Iterator[Move | Sink]:
        if is_whole:
            yield value.at(above)
        elif self._has_counterpart(above):  # else it is a look at the first few
            yield Sink(SPLIT, above)

    def _has_counterpart(self, above: ast.Subscript) -> bool:
        """`rows[:n]`, where `rows[n:]` stands beside it."""
        bound = _only_bound(above)
        if bound is None or not isinstance(above.value, ast.Name):
            return False
        reads = self.facts.index.reads(self.facts.index.scope_of(above), above.value.id)
        others = (self.facts.index.parents[read] for read in reads)
        return any(_only_bound(one) == (bound[0], not bound[1]) for one in others)

    def numbers_in(self, _loop: ast.For | ast.AsyncFor, index: str | None) -> set[str]:
        return {index} if index is not None else set()  # what else is counted is mostly progress

    def filled(
        self, loop: ast.For | ast.AsyncFor, statement: ast.stmt, index: str | None, value: Value
    ) -> Iterator[Move | Sink]:
        yield from self.written(loop, statement, value)
        addition = filled_by_number(statement, index) or filled(statement)
        if addition is not None:
            container, element = addition
            self._side_by_side.add(ast.unparse(container))
            if element is not None and names_bound(loop) & names_in(element):
                yield Kept(container, value.at(container), in_place=True)


def _only_bound(node: ast.AST) -> tuple[str, bool] | None:
    """The one bound of a slice, as it is written, and whether the slice begins there."""
    bounds = node.slice if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) else None
    given = (bounds.lower or bounds.upper) if bounds is not None and bounds.step is None else None
    if bounds is None or given is None or (bounds.lower is not None and bounds.upper is not None):
        return None
    return ast.unparse(given), bounds.lower is not None


@check(codes=(_CODE,), triggers=Triggers(calls=FUNCTIONS, methods=METHODS), judge=judged_by(ResultsAnalysis))
def find(visit: Visit) -> Iterator[Finding]:
    """Tasks whose results are collected as they finish, and then used by their place."""
    if is_method_call(visit.call, *METHODS) or visit.callee() in FUNCTIONS:
        flow = follow(ResultsAnalysis(visit.facts), started(visit.facts, visit.call))
        flow.exits = [one for one in flow.exits if isinstance(one.port, Written)]  # files, which others may read
        yield from finding_of(_CODE, visit, flow, {"call": shortened(ast.unparse(visit.call.func))})


# -- what is left open -------------------------------------------------------------------------------------------


@check(codes=(_CODE,), triggers=Triggers(calls=_SHARED), judge=judge_open, is_open=True)
def shared(visit: Visit) -> Iterator[Finding]:
    """Memory that processes share: a counter from which loader workers take the next number."""
    yield Finding(_CODE, visit.node, message="open_shared")


def _worker_starts(facts: FileFacts) -> list[CallSite]:
    starters = ((site, starter_of(facts, site.node, site.scope)) for site in facts.symbols.calls)
    return [site for site, starter in starters if starter is not None and starter.worker]


@check(codes=(_CODE,), triggers=Triggers(calls=_POOLS, sites=_worker_starts), judge=judge_open, is_open=True)
def workers(visit: Visit) -> Iterator[Finding]:
    """Workers that are started one by one, and pools of threads: what they share has the order of who gets to it."""
    yield Finding(_CODE, visit.node, message="open_started")


def _queued(facts: FileFacts) -> list[CallSite]:
    """What takes out of a queue that the file makes and hands to workers: several may fill it."""
    starts = _worker_starts(facts) if "Queue" in facts.source.text else []  # to resolve every call costs time
    handed = {node.id for start in starts for node in ast.walk(start.node) if isinstance(node, ast.Name)}
    taken = facts.calls.find(words=("get", "get_nowait")) if handed else []
    return [site for site in taken if _is_of_queue(facts, site, handed)]


def _is_of_queue(facts: FileFacts, taken: CallSite, handed: Container[str]) -> bool:
    queue = taken.node.func.value if isinstance(taken.node.func, ast.Attribute) else None
    name = facts.names(queue, taken.scope).only if isinstance(queue, ast.Name) and queue.id in handed else None
    return name is not None and is_result(name) and maker_of(name).removeprefix("torch.") in _QUEUES


@check(
    codes=(_CODE,),
    triggers=Triggers(calls=FUNCTIONS | WAITING, methods=METHODS, sites=lambda facts: facts.cached(_queued)),
    judge=judge_open,
    is_open=True,
)
def results(visit: Visit) -> Iterator[Finding]:
    """Results that are taken as tasks finish, with a use that is not known to ignore their order."""
    if visit.callee() in FUNCTIONS | WAITING or is_method_call(visit.call, *METHODS):
        yield from used(_CODE, visit, visit.call)
    elif any(one.node is visit.call for one in visit.facts.cached(_queued)):
        yield Finding(_CODE, visit.node)
