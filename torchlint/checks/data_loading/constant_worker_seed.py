"""TL306 constant-worker-seed: data-loading workers that all draw the same numbers."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.spelling import shortened, spelling_of
from torchlint.checks.framework.visit import Visit
from torchlint.diagnostics import Confidence
from torchlint.facts.data_loading.worker_seeding import calls_in_place, worker_seeds
from torchlint.facts.file import FileFacts
from torchlint.facts.scopes import CallSite
from torchlint.facts.values import argument_of

_CODE = "TL306"


def _seeding(facts: FileFacts) -> Iterator[CallSite]:
    calls = {*facts.cached(worker_seeds), *facts.cached(calls_in_place)}
    return (site for site in facts.symbols.calls if site.node in calls) if calls else iter(())


@check(codes=(_CODE,), triggers=Triggers(sites=_seeding))
def find(visit: Visit) -> Iterator[Finding]:
    """The call that seeds all workers alike; the one whose result a loader gets."""
    seed = visit.facts.cached(worker_seeds).get(visit.call)
    if seed is not None:
        related = () if seed.init is None else ((seed.init.node, "the loader whose workers run it"),)
        confidence = Confidence.MEDIUM if seed.init is None else None
        yield Finding(_CODE, visit.node, {"spelling": spelling_of(visit)}, confidence=confidence, related=related)
    called = visit.facts.cached(calls_in_place).get(visit.call)
    if called is not None:
        yield Finding(_CODE, _argument(visit.call), {"spelling": shortened(ast.unparse(called))}, "called")


def _argument(loader: ast.Call) -> ast.expr:
    """The argument for `worker_init_fn`, by keyword or as the eleventh."""
    return argument_of(loader, "worker_init_fn", 10) or loader
