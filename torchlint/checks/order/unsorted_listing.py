"""TL401 unsorted-listing: the order in which a file system lists decides something."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.catalogue.values import Kind
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.spelling import spelling_of
from torchlint.checks.framework.visit import Visit
from torchlint.checks.order.order_findings import finding_of, judged_by
from torchlint.facts.flow.tracker import follow
from torchlint.facts.order.analysis import OrderAnalysis, started

_CODE = "TL401"
FUNCTIONS = frozenset({"os.listdir", "os.scandir", "os.walk", "glob.glob", "glob.iglob"})
METHODS = frozenset({"iterdir", "glob", "rglob", "dirs", "files", "listdir", "walkdirs", "walkfiles"})
"""Of pathlib, then those of the package `path` (16.14: what `os.listdir` gives, in its order)."""
_VARIANTS = {"os.scandir": "scandir", "os.walk": "walk"}


@check(codes=(_CODE,), triggers=Triggers(calls=FUNCTIONS, methods=METHODS), judge=judged_by(OrderAnalysis))
def find(visit: Visit) -> Iterator[Finding]:
    """A directory listing whose order reaches ids, an index, a split, a draw or a dataset."""
    function = listing(visit)
    if function is not None:
        flow = follow(OrderAnalysis(visit.facts), started(visit.facts, visit.call))
        variant = _VARIANTS.get(function, "default")
        yield from finding_of(_CODE, visit, flow, {"call": spelling_of(visit)}, variant)


def listing(visit: Visit) -> str | None:
    """The listing function that is called, by its full name; for a method of a path, the method's name."""
    name = visit.callee()
    if name in FUNCTIONS:
        return name
    function = visit.call.func
    if isinstance(function, ast.Attribute) and function.attr in METHODS and visit.kind(function.value) is Kind.PATH:
        return function.attr
    return None
