"""TL607 exact-device-compare: equality asked of floats that were computed in two places."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.checks.devices.computed import Computed, differing
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.visit import Visit
from torchlint.facts.file import FileFacts
from torchlint.facts.scopes import CallSite

_CODE = "TL607"
_EQUALITY = frozenset({"torch.equal", "numpy.array_equal", "numpy.testing.assert_array_equal"})
_TOLERANT = frozenset(
    {"torch.testing.assert_close", "torch.allclose", "numpy.allclose", "numpy.testing.assert_allclose"}
)
"""They ask for equality where both tolerances are 0."""
_PAIR = 2


@check(
    codes=(_CODE,),
    triggers=Triggers(calls=_EQUALITY | _TOLERANT | {"torch.all"}, methods=frozenset({"equal", "all"})),
)
def find(visit: Visit) -> Iterator[Finding]:
    """An exact comparison of two results that round differently."""
    sides = _compared(visit.facts, visit.site) if visit.facts.imports_torch else None
    if sides is None:
        return
    first, second = sides
    values = {"first": _words(first, second), "second": _words(second, first)}
    related = ((first.node, f"computed {values['first']}"), (second.node, f"computed {values['second']}"))
    yield Finding(_CODE, visit.node, values, related=related)


def _words(computed: Computed, other: Computed) -> str:
    if computed.place.device != other.place.device and computed.place.device and other.place.device:
        return f"on {computed.place.device}"
    return f"in {computed.place.element}"


def _compared(facts: FileFacts, site: CallSite) -> tuple[Computed, Computed] | None:
    sides = _sides(facts, site.node, site.scope)
    if sides is None or _is_denied(facts, site):
        return None
    return differing(facts, *sides, site.scope)


def _sides(facts: FileFacts, call: ast.Call, scope: int) -> tuple[ast.expr, ast.expr] | None:
    name = facts.names(call.func, scope).only
    if name in _EQUALITY or (name in _TOLERANT and _is_exact(facts, call, scope)):
        return (call.args[0], call.args[1]) if len(call.args) >= _PAIR else None
    method = call.func if isinstance(call.func, ast.Attribute) else None
    if name == "torch.all" and call.args:
        return _equated(call.args[0])
    if method is not None and method.attr == "equal" and len(call.args) == 1:
        return method.value, call.args[0]
    return _equated(method.value) if method is not None and method.attr == "all" else None


def _equated(expression: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    is_equality = isinstance(expression, ast.Compare) and [type(o) for o in expression.ops] == [ast.Eq]
    return (expression.left, expression.comparators[0]) if is_equality else None  # type: ignore[attr-defined]


def _is_exact(facts: FileFacts, call: ast.Call, scope: int) -> bool:
    given = {keyword.arg: facts.value(keyword.value, scope).constants for keyword in call.keywords}
    return given.get("rtol") == (0,) and given.get("atol") == (0,)


def _is_denied(facts: FileFacts, site: CallSite) -> bool:
    """Code that knows that they differ, `assert not torch.equal(a, b)`, or shows it: `print(torch.equal(a, b))`."""
    around = [outer for outer, _ in facts.index.ancestors(site.node)]
    is_shown = site.is_alone
    return (is_shown and not _asserts(site.node)) or any(_denies(outer) for outer in around)


def _asserts(call: ast.Call) -> bool:
    return "assert" in ast.unparse(call.func)


def _denies(outer: ast.AST) -> bool:
    if isinstance(outer, ast.UnaryOp):
        return isinstance(outer.op, ast.Not)
    last = ast.unparse(outer.func).rpartition(".")[2] if isinstance(outer, ast.Call) else ""
    return last in ("print", "assertFalse", "display")
