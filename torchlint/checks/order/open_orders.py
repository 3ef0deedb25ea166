"""What TL401, TL402, TL403 and TL404 leave open: orders and hashes that were not shown to decide nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.catalogue.values import Kind
from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.visit import Visit
from torchlint.checks.order.completion_order import FUNCTIONS as FINISHED
from torchlint.checks.order.completion_order import METHODS as FINISHING
from torchlint.checks.order.completion_order import WAITING
from torchlint.checks.order.orders import LISTING, LISTING_METHODS, listing
from torchlint.checks.order.workers import filled_by_workers, worker_starts
from torchlint.facts.entries import is_test
from torchlint.facts.file import FileFacts
from torchlint.facts.order.harmless import MustAnalysis, open_uses
from torchlint.facts.order.salted import hashed_by, is_salted_hash, sets_that_may_hold_text
from torchlint.facts.scopes import CallSite
from torchlint.facts.tree import is_method_call
from torchlint.project.index import Project

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


def _judge(draft: Draft, project: Project) -> Draft | None:
    if is_test(draft.path) or not project.has_torch:
        return None
    is_settled = bool(draft.exits) and project.flows.contained(draft.exits, MustAnalysis) is not None
    return None if is_settled else draft


@check(codes=("TL401",), triggers=Triggers(calls=LISTING, methods=LISTING_METHODS), judge=_judge, is_open=True)
def listings(visit: Visit) -> Iterator[Finding]:
    """Directory listings with a use that is not known to ignore their order."""
    name = listing(visit)
    if name == "os.walk":  # to sort the walk leaves the names in each folder as they came
        yield Finding("TL401", visit.node)
    elif name is not None or _may_be_path(visit):
        yield from _used("TL401", visit, visit.call)


def _used(code: str, visit: Visit, made: ast.expr) -> Iterator[Finding]:
    """The point where an order is made, with the first use that may count."""
    flow = open_uses(visit.facts, made)
    use = made if flow.sink is None else flow.sink.node
    if flow.exits or not flow.is_contained:
        is_elsewhere = visit.facts.locate(use).line != visit.facts.locate(made).line
        yield Finding(code, made, related=((use, "used here"),) if is_elsewhere else (), exits=tuple(flow.exits))


def _may_be_path(visit: Visit) -> bool:
    """Whether `folder.glob("*.wav")` may be called on a path, as far as the code tells."""
    function = visit.call.func
    is_method = isinstance(function, ast.Attribute) and function.attr in ("iterdir", "glob", "rglob")
    return is_method and visit.kind(function.value) is Kind.UNKNOWN  # type: ignore[attr-defined]


@check(codes=("TL402",), triggers=Triggers(sites=sets_that_may_hold_text), judge=_judge, is_open=True)
def sets(visit: Visit) -> Iterator[Finding]:
    """Sets that may hold text, with a use that is not known to ignore their order."""
    if isinstance(visit.node, ast.expr):
        yield from _used("TL402", visit, visit.node)


@check(codes=("TL403",), triggers=Triggers(calls=frozenset({"builtins.hash"})), judge=_judge, is_open=True)
def hashes(visit: Visit) -> Iterator[Finding]:
    """Hashes of what is text, or may be."""
    hashed = hashed_by(visit.facts, visit.site)
    is_open = hashed is not None and visit.kind(hashed) in (Kind.UNKNOWN, Kind.TEXT)
    if is_open or is_salted_hash(visit.facts, visit.site):
        yield Finding("TL403", visit.node)


@check(codes=("TL404",), triggers=Triggers(calls=_SHARED), judge=_judge, is_open=True)
def shared(visit: Visit) -> Iterator[Finding]:
    """Memory that processes share: a counter from which loader workers take the next number."""
    yield Finding("TL404", visit.node, message="open_shared")


@check(
    codes=("TL404",),
    triggers=Triggers(calls=_POOLS, sites=lambda facts: [start.site for start in worker_starts(facts)]),
    judge=_judge,
    is_open=True,
)
def workers(visit: Visit) -> Iterator[Finding]:
    """Workers that are started one by one, and pools of threads: what they share has the order of who gets to it."""
    yield Finding("TL404", visit.node, message="open_started")


def _queued(facts: FileFacts) -> list[CallSite]:
    filling = filled_by_workers(facts)
    return [site for site in facts.symbols.calls if site.node in filling]


@check(
    codes=("TL404",),
    triggers=Triggers(calls=FINISHED | WAITING, methods=FINISHING, sites=_queued),
    judge=_judge,
    is_open=True,
)
def results(visit: Visit) -> Iterator[Finding]:
    """Results that are taken as tasks finish, with a use that is not known to ignore their order."""
    name = visit.callee()
    is_one = name in FINISHED | WAITING or is_method_call(visit.call, *FINISHING)
    if is_one:
        yield from _used("TL404", visit, visit.call)
    elif visit.call in filled_by_workers(visit.facts):
        yield Finding("TL404", visit.node)
