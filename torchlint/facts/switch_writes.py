"""Assignments to torch's switches, such as `torch.backends.cudnn.benchmark`: what a program turns, and to what."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from torchlint.diagnostics import Location
from torchlint.facts.options.demands import Demand, demand_of, demands_on

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_PRECISION = "torch.set_float32_matmul_precision"
"""The one switch of this kind that is a function."""


class SwitchWrite(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One place that sets a switch; `value` is the literal, or None when it is decided at run time."""

    name: str
    value: str | None
    symbol: str
    location: Location
    demands: tuple[Demand, ...] = ()
    """What has to be so for the statement to run."""
    decided: Demand | None = None
    """What has to be so for a value that is no literal to be true: `cudnn.deterministic = args.deterministic`."""


def switch_writes(facts: FileFacts, switches: frozenset[str]) -> Iterator[SwitchWrite]:
    """Every evident write of one of these attributes, by its full name, in source order."""
    words = _last_words(switches)
    for assignment in facts.symbols.assignments:
        target = assignment.target
        if not isinstance(target, ast.Attribute) or target.attr not in words:
            continue
        name = facts.names(target, assignment.scope).only
        if name in switches and isinstance(assignment.statement, ast.Assign | ast.AnnAssign):
            scope, given = assignment.scope, assignment.value
            symbol, value = facts.symbol_at(scope, assignment.statement), _literal(facts, given, scope)
            decided = demand_of(facts, given, scope) if value is None else None
            demands = demands_on(facts, assignment.statement, scope)
            yield SwitchWrite(str(name), value, symbol, facts.locate(target), demands, decided)
    for site in facts.calls.find(names=(_PRECISION,)):
        called = site.node.func
        is_written = isinstance(called, ast.Attribute) and called.attr == _PRECISION.rpartition(".")[2]
        if is_written and site.node.args and facts.names(called, site.scope).only == _PRECISION:
            value = _literal(facts, site.node.args[0], site.scope)
            yield SwitchWrite(_PRECISION, value, facts.symbol_of(site), facts.locate(site.node))


@functools.cache
def _last_words(names: frozenset[str]) -> frozenset[str]:
    return frozenset(name.rpartition(".")[2] for name in names)


def _literal(facts: FileFacts, value: ast.expr | None, scope: int) -> str | None:
    known = facts.value(value, scope)
    return repr(known.constants[0]) if known.is_known and len(known.constants) == 1 else None
