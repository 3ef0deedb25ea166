"""TL119 overlapping-write: a write through a view whose elements share memory."""

from __future__ import annotations

import ast
import enum
from collections.abc import Iterator

import msgspec

from torchlint.catalogue.values import Kind
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.spelling import shortened, spelling_of
from torchlint.checks.framework.visit import Visit
from torchlint.diagnostics import Confidence, Severity
from torchlint.facts.control.conditions import managers_around
from torchlint.facts.file import FileFacts
from torchlint.facts.scopes import AssignSite, CallSite, Site
from torchlint.facts.tensors.kinds import kind_of
from torchlint.facts.tensors.methods import methods_that
from torchlint.facts.tensors.ranks import rank_of
from torchlint.facts.tensors.views import SharedView, makes_views, shared_view, unit_dims_of
from torchlint.facts.tree import only_target
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


@check(
    codes=(_CODE,),
    triggers=Triggers(methods=WRITING, sites=_assignments),
)
def find(visit: Visit) -> Iterator[Finding]:
    """The in-place call, or the assignment."""
    if not visit.facts.cached(makes_views):
        return
    if isinstance(visit.node, ast.Call):
        write = _written_by_call(visit.facts, visit.site)
    else:
        write = _written_by_statement(visit.facts, AssignSite(visit.assignment, visit.scope))
    if write is not None:
        yield Finding(
            _CODE,
            visit.node,
            values={"spelling": spelling_of(visit), "view": shortened(ast.unparse(write.view.maker))},
            message=write.how,
            severity=Severity.ERROR if write.how == "raises" else None,
            confidence=None if write.is_certain else Confidence.MEDIUM,
            related=((write.view.maker, "the view whose elements share memory"),),
        )


class _Reach(enum.Enum):
    """What an index takes of a view."""

    OVERLAPPING = "overlapping"
    """Several elements that are one place."""
    SINGLE = "single"
    """One element of each place, and all that share the place with it."""
    GATHERED = "gathered"
    """What tensors point at."""
    UNKNOWN = "unknown"


class _OverlappingWrite(msgspec.Struct, frozen=True):
    """`how` is the variant of the message: `raises`, `default` or `shared`."""

    view: SharedView
    how: str
    is_certain: bool = True


def _written_by_call(facts: FileFacts, site: CallSite) -> _OverlappingWrite | None:
    """`view.add_(x)`, `view[1:].copy_(x)`."""
    method = site.node.func
    if not isinstance(method, ast.Attribute) or method.attr not in WRITING:
        return None
    reached = _reached(facts, method.value, site.scope)
    if reached is None or reached[1] in (_Reach.GATHERED, _Reach.UNKNOWN):
        return None  # `view[index]` is a copy if `index` is a tensor
    view, reach = reached
    if method.attr in PASSING:
        values = argument_of(site.node, "values", 1)
        is_meant = reach is _Reach.OVERLAPPING and values is not None and _is_tensor(facts, values, site.scope)
        return _OverlappingWrite(view, "default") if is_meant else None
    if view.is_expanded:
        if reach is _Reach.OVERLAPPING:
            return _refused(facts, view, site.statement)
        return _OverlappingWrite(view, "shared") if method.attr in _REPEATED else None
    is_one_value = method.attr == "copy_" and not _is_tensor(facts, argument_of(site.node, "src", 0), site.scope)
    is_racing = reach is _Reach.OVERLAPPING and method.attr in _REPEATED and not is_one_value
    return _OverlappingWrite(view, "default") if is_racing else None


def _written_by_statement(facts: FileFacts, site: AssignSite) -> _OverlappingWrite | None:
    """`view[1:] = x`, `view[index] += x`, `view += x`."""
    statement, scope = site.node, site.scope
    if isinstance(statement, ast.AugAssign):
        reached = _reached(facts, statement.target, scope)
        return _added(facts, *reached, statement) if reached is not None else None
    target = only_target(statement)
    reached = _reached(facts, target, scope) if isinstance(target, ast.Subscript) else None
    return None if reached is None else _stored(facts, *reached, statement, scope)


def _refused(facts: FileFacts, view: SharedView, statement: ast.stmt) -> _OverlappingWrite | None:
    """What raises, unless code says that it expects so."""
    is_expected = any("raises" in ast.unparse(manager).lower() for manager in managers_around(facts, statement))
    return None if is_expected else _OverlappingWrite(view, "raises")


def _added(facts: FileFacts, view: SharedView, reach: _Reach, statement: ast.stmt) -> _OverlappingWrite | None:
    if reach is _Reach.OVERLAPPING:
        return _refused(facts, view, statement) if view.is_expanded else _OverlappingWrite(view, "default")
    if not view.is_expanded:
        return None  # perhaps window by window, in a loop
    return _OverlappingWrite(view, "shared" if reach is _Reach.SINGLE else "default", reach is not _Reach.UNKNOWN)


def _stored(
    facts: FileFacts, view: SharedView, reach: _Reach, statement: ast.Assign | ast.AnnAssign, scope: int
) -> _OverlappingWrite | None:
    value = statement.value
    if view.is_expanded and reach is _Reach.OVERLAPPING:
        return None if kind_of(facts, value, scope) is Kind.NUMBER else _refused(facts, view, statement)
    if not _is_tensor(facts, value, scope) or not (view.is_expanded or reach is _Reach.OVERLAPPING):
        return None
    return _OverlappingWrite(view, "shared" if reach is _Reach.SINGLE else "default", reach is not _Reach.UNKNOWN)


def _is_tensor(facts: FileFacts, value: ast.expr | None, scope: int) -> bool:
    """Whether a value is evidently a tensor, and not of a single number, which fills."""
    is_number = rank_of(facts, value, scope) == 0 or unit_dims_of(facts, value, scope).rank == 0
    return kind_of(facts, value, scope) is Kind.TENSOR and not is_number


# -- what an index takes -------------------------------------------------------------------------


def _reached(facts: FileFacts, target: ast.expr, scope: int) -> tuple[SharedView, _Reach] | None:
    """The view that `target` is, or is a part of, and how it takes its elements."""
    view = shared_view(facts, target, scope)
    if view is not None or not isinstance(target, ast.Subscript):
        return (view, _Reach.OVERLAPPING) if view is not None else None
    view = shared_view(facts, target.value, scope)
    return (view, _reach(facts, view, target.slice, scope)) if view is not None else None


def _reach(facts: FileFacts, view: SharedView, index: ast.expr, scope: int) -> _Reach:
    parts = [_part(facts, part, scope) for part in (index.elts if isinstance(index, ast.Tuple) else [index])]
    if all(part in ("all", "dots") for part in parts):
        return _Reach.OVERLAPPING
    if not view.is_expanded:
        return _Reach.UNKNOWN  # one window, or one element of each, overlaps with nothing
    if "tensor" in parts:
        return _Reach.GATHERED
    if "unknown" in parts or view.shared is None:
        return _Reach.UNKNOWN
    given = _placed(parts, view.rank)
    shared = [place if view.rank is None else place % view.rank for place in view.shared]
    if given is None or min(shared) < 0:
        return _Reach.UNKNOWN
    is_one = all(place < len(given) and given[place] == "one" for place in shared)
    return _Reach.SINGLE if is_one else _Reach.OVERLAPPING


def _placed(parts: list[str], rank: int | None) -> list[str] | None:
    """The kind of index that each dimension of the view is given; None behind an ellipsis of unknown length."""
    taking = [part for part in parts if part != "new"]
    if "dots" not in taking or rank is None:
        return None if "dots" in taking else taking
    dots = taking.index("dots")
    return [*taking[:dots], *["all"] * (rank - len(taking) + 1), *taking[dots + 1 :]]


def _part(facts: FileFacts, part: ast.expr, scope: int) -> str:
    """`all`, `some`, `one`, `new`, `dots`, `tensor` or `unknown`."""
    if isinstance(part, ast.Slice):
        bounds = [facts.value(bound, scope).constants for bound in (part.lower, part.upper) if bound is not None]
        if part.lower is None and part.upper is None:
            return "all"
        if part.step is None and len(bounds) == 2 and all(len(b) == 1 and isinstance(b[0], int) for b in bounds):
            return "one" if bounds[1][0] - bounds[0][0] == 1 else "some"  # type: ignore[operator]
        return "some"
    if isinstance(part, ast.Constant):
        if part.value is None or part.value is Ellipsis:
            return "new" if part.value is None else "dots"
        return "one" if isinstance(part.value, int) else "unknown"
    if isinstance(part, ast.List | ast.Compare):
        return "tensor"
    kind = kind_of(facts, part, scope)
    return {Kind.NUMBER: "one", Kind.TENSOR: "tensor"}.get(kind, "unknown")
