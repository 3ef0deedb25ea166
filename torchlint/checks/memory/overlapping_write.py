"""TL119 overlapping-write: a write through a view whose elements share memory."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.catalogue.values import Kind
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.visit import Visit, shortened, spelling_of
from torchlint.diagnostics import Severity
from torchlint.facts.control.conditions import managers_around
from torchlint.facts.file import FileFacts
from torchlint.facts.scopes import CallSite, Site
from torchlint.facts.tensors.kinds import kind_of
from torchlint.facts.tensors.methods import methods_that
from torchlint.facts.tensors.ranks import rank_of
from torchlint.facts.tensors.views import SharedView, makes_views, shared_view, unit_dims_of
from torchlint.facts.tree import index_parts, is_ellipsis, only_target
from torchlint.facts.values import argument_of

_CODE = "TL119"
PASSING = frozenset({"index_put_"})
"""What torch lets pass on an expanded view as well."""
WRITING = methods_that(lambda method: method.writes not in ("", "one"))
"""In-place methods, but for those that write one value to every place: torch lets these pass on any view."""
_REPEATED = methods_that(lambda method: method.writes == "each" and not method.draws)
"""They give one place several values, or compute its value several times."""


def _assignments(facts: FileFacts) -> Iterator[Site]:
    """Those of files that make such views."""
    for store in facts.symbols.assign_sites if facts.cached(makes_views) else ():
        yield Site(store.node, store.scope, store.node)


@check(codes=(_CODE,), triggers=Triggers(methods=WRITING, sites=_assignments))
def find(visit: Visit) -> Iterator[Finding]:
    """The in-place call, or the assignment."""
    if not visit.facts.cached(makes_views):
        return
    if isinstance(visit.node, ast.Call):
        write = _written_by_call(visit.facts, visit.site)
    else:
        write = _written_by_statement(visit)
    if write is not None:
        view, message = write
        values = {"spelling": spelling_of(visit), "view": shortened(ast.unparse(view.maker))}
        severity = Severity.ERROR if message == "raises" else None
        related = ((view.maker, "the view whose elements share memory"),)
        yield Finding(_CODE, visit.node, values, message, severity=severity, related=related)


_Write = tuple[SharedView, str]
"""What is written through, and the variant of the message: `raises` or `default`."""


def _written_by_call(facts: FileFacts, site: CallSite) -> _Write | None:
    """`view.add_(x)`, `view[:].copy_(x)`."""
    method = site.node.func
    if not isinstance(method, ast.Attribute) or method.attr not in WRITING - PASSING:
        return None
    view = _whole(facts, method.value, site.scope)
    if view is None or view.is_expanded:
        return None if view is None else _refused(facts, view, site.statement)
    is_one_value = method.attr == "copy_" and not _is_tensor(facts, argument_of(site.node, "src", 0), site.scope)
    return (view, "default") if method.attr in _REPEATED and not is_one_value else None


def _written_by_statement(visit: Visit) -> _Write | None:
    """`view[:] = x`, `view += x`."""
    facts, statement, scope = visit.facts, visit.assignment, visit.scope
    is_added = isinstance(statement, ast.AugAssign)
    target = statement.target if isinstance(statement, ast.AugAssign) else only_target(statement)
    view = _whole(facts, target, scope) if is_added or isinstance(target, ast.Subscript) else None
    if view is None:
        return None
    if view.is_expanded:
        is_filled = not is_added and kind_of(facts, statement.value, scope) is Kind.NUMBER
        return None if is_filled else _refused(facts, view, statement)
    return (view, "default") if is_added or _is_tensor(facts, statement.value, scope) else None


def _whole(facts: FileFacts, target: ast.expr | None, scope: int) -> SharedView | None:
    """The view that a target is, as a whole: `view`, `view[:]`, `view[...]`."""
    if isinstance(target, ast.Subscript) and all(
        is_ellipsis(part) or (isinstance(part, ast.Slice) and part.lower is None and part.upper is None)
        for part in index_parts(target)
    ):
        target = target.value
    return None if target is None else shared_view(facts, target, scope)


def _refused(facts: FileFacts, view: SharedView, statement: ast.stmt) -> _Write | None:
    """What raises, unless code says that it expects so."""
    is_expected = any("raises" in ast.unparse(manager).lower() for manager in managers_around(facts, statement))
    return None if is_expected else (view, "raises")


def _is_tensor(facts: FileFacts, value: ast.expr | None, scope: int) -> bool:
    """Whether a value is evidently a tensor, and not of a single number, which fills."""
    is_number = rank_of(facts, value, scope) == 0 or unit_dims_of(facts, value, scope).rank == 0
    return kind_of(facts, value, scope) is Kind.TENSOR and not is_number
