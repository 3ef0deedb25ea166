"""Loops that collect what comes out of a queue, and what the order decides in which they do."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from torchlint.checks.order.results import ResultsAnalysis
from torchlint.checks.order.workers.queues import filled_by_workers
from torchlint.checks.order.workers.starts import comprehension_around, is_repeated
from torchlint.facts.control.blocks import Loop, loops_around
from torchlint.facts.flow.tracker import Flow, follow
from torchlint.facts.order.analysis import started
from torchlint.facts.order.loops import filled, filled_by_number, index_name, names_in, statements_in
from torchlint.facts.order.words import ENUMERATE
from torchlint.facts.scopes import BindingKind, CallSite

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts


class Collected(msgspec.Struct, frozen=True):
    """One call that takes results out of a queue of several workers, again and again."""

    site: CallSite
    loop: Loop | None
    """The loop around it; None where it stands in a comprehension."""
    flow: Flow
    """What the order of the results decides."""


def collected(facts: FileFacts) -> dict[ast.Call, Collected]:
    """The calls that take results as the workers finish, where the results' places matter later."""
    filling = filled_by_workers(facts)
    found = {}
    for site in facts.symbols.calls if filling else ():
        starts = filling.get(site.node, ())
        if not starts or not is_repeated(facts, site):
            continue
        loop = loop_around(facts, site)
        if any(start.repeats(facts, site.statement) for start in starts) or _starts_workers(facts, loop):
            continue  # one worker after another
        flow = gathered(facts, site, loop)
        if flow.sink is not None or flow.exits:
            found[site.node] = Collected(site, loop, flow)
    return found


def _starts_workers(facts: FileFacts, loop: Loop | None) -> bool:
    return loop is not None and any(
        isinstance(site.node.func, ast.Attribute)
        and site.node.func.attr == "start"
        and next(loops_around(facts, site.statement), None) is loop
        for site in facts.symbols.calls
    )


def loop_around(facts: FileFacts, site: CallSite) -> Loop | None:
    """The loop that makes a call again and again; None where a comprehension does."""
    return None if comprehension_around(facts, site) is not None else next(loops_around(facts, site.statement), None)


def gathered(facts: FileFacts, site: CallSite, loop: Loop | None) -> Flow:
    """What the order decides of what a loop or a comprehension puts together from the results of one call."""
    analysis = ResultsAnalysis(facts)
    around = comprehension_around(facts, site)
    if around is not None:
        is_element = isinstance(around, ast.ListComp | ast.GeneratorExp) and _holds(around.elt, site.node, set())
        return follow(analysis, started(facts, around)) if is_element else Flow()
    if loop is None:
        return Flow()
    return follow(analysis, *analysis.started_with(list(_filled_from(facts, site, loop))))


def _filled_from(facts: FileFacts, site: CallSite, loop: Loop) -> Iterator[ast.expr]:
    """The lists that a loop fills with what one of its calls gives, one element or one run of them a round."""
    index, results = _counter(facts, loop, site.scope), set[str]()
    for statement in statements_in(loop):
        results |= _bound_from(site.node, results, statement)
        addition = filled_by_number(statement, index) or filled(statement) or _extended(facts, statement, site.scope)
        if addition is not None and addition[1] is not None and _holds(addition[1], site.node, results):
            yield addition[0]


def _counter(facts: FileFacts, loop: Loop, scope: int) -> str | None:
    """The name that counts the rounds: of `for i in range(n)`, `for i, worker in enumerate(workers)`."""
    if isinstance(loop, ast.While) or not isinstance(loop.iter, ast.Call):
        return None
    name = facts.names(loop.iter.func, scope).only
    if name == ENUMERATE:
        return index_name(loop.target)
    return loop.target.id if name == "builtins.range" and isinstance(loop.target, ast.Name) else None


def _bound_from(call: ast.Call, results: set[str], statement: ast.stmt) -> set[str]:
    """The names that a statement binds to a part of the results."""
    if isinstance(statement, ast.For):
        value, targets = statement.iter, [statement.target]
    elif isinstance(statement, ast.Assign):
        value, targets = statement.value, statement.targets
    else:
        return set()
    return {name for target in targets for name in names_in(target)} if _holds(value, call, results) else set()


def _holds(value: ast.expr, call: ast.Call, results: set[str]) -> bool:
    return any(node is call for node in ast.walk(value)) or bool(names_in(value) & results)


def _extended(facts: FileFacts, statement: ast.stmt, scope: int) -> tuple[ast.expr, ast.expr] | None:
    """The list in `rows += part`; of other values it is a sum."""
    if not isinstance(statement, ast.AugAssign) or not isinstance(statement.target, ast.Name):
        return None
    owner = facts.resolver.owner(statement.target.id, scope)
    plain = [b for b in owner.bindings[statement.target.id] if b.kind is BindingKind.ASSIGN] if owner else []
    is_list = bool(plain) and all(isinstance(binding.value, ast.List) for binding in plain)
    return (statement.target, statement.value) if is_list else None
