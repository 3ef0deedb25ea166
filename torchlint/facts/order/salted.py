"""Orders and hashes that change with the hash seed: of sets of text or of objects, and of text itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from torchlint.facts.flow.tracker import Flow, follow
from torchlint.facts.order.analysis import started
from torchlint.facts.order.sets import SetAnalysis
from torchlint.facts.order.texts import holds_text, is_text
from torchlint.facts.scopes import CallSite, Site

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_HASH = "builtins.hash"
SET_MAKERS = frozenset({"builtins.set", "builtins.frozenset"})


def is_salted_hash(facts: FileFacts, site: CallSite) -> bool:
    """Whether a call is `hash` of what may be text, and does not say what an object is equal to."""
    hashed = hashed_by(facts, site)
    return hashed is not None and _may_be_text(facts, hashed, site.scope)


def hashed_by(facts: FileFacts, site: CallSite) -> ast.expr | None:
    """What a call of `hash` is given; None for another call, and where it says what an object is equal to."""
    call = site.node
    if len(call.args) != 1 or facts.names(call.func, site.scope).only != _HASH:
        return None
    function = facts.function_of(site.scope)
    is_equality = function is not None and facts.symbols.scopes[function].name in ("__hash__", "__eq__")
    return None if is_equality else call.args[0]


def _may_be_text(facts: FileFacts, argument: ast.expr, scope: int) -> bool:
    if isinstance(argument, ast.Tuple):
        return any(_may_be_text(facts, element, scope) for element in argument.elts)
    return is_text(facts, argument, scope)


class SetOrder(msgspec.Struct, frozen=True):
    """A set whose order decides something, or leaves the file."""

    site: Site
    flow: Flow


def set_orders(facts: FileFacts) -> dict[ast.AST, SetOrder]:
    """The sets of text, or of objects, whose order decides something or leaves the file, by what makes them."""
    found: dict[ast.AST, SetOrder] = {}
    for site in sets_of_text(facts):
        flow = follow(SetAnalysis(facts, into_datasets=False), started(facts, site.node))  # type: ignore[arg-type]
        if flow.sink is not None or flow.exits:
            found[site.node] = SetOrder(site, flow)
    return found


def sets_of_text(facts: FileFacts) -> Iterator[Site]:
    """What makes sets whose order changes with the hash seed."""
    for site in _set_sites(facts):
        if isinstance(site.node, ast.expr) and _is_affected(facts, site.node, site):
            yield site


def sets_that_may_hold_text(facts: FileFacts) -> Iterator[Site]:
    """What makes sets, but for those that hold numbers as far as the code tells."""
    for site in _set_sites(facts):
        is_of_numbers = isinstance(site.node, ast.Set) and not holds_text(facts, site.node, site.scope)
        is_of_entries = isinstance(site.node, ast.Call) and bool(site.node.args)
        if not is_of_numbers and (is_of_entries or site.node in {one.node for one in sets_of_text(facts)}):
            yield site


def _set_sites(facts: FileFacts) -> Iterator[Site]:
    """All that makes sets: calls, comprehensions, and displays that get a name."""
    for site in facts.calls.find(names=SET_MAKERS):
        if facts.names(site.node.func, site.scope).only in SET_MAKERS:
            yield Site(site.node, site.scope, site.statement)
    for scope in facts.symbols.scopes:
        if isinstance(scope.node, ast.SetComp):
            yield Site(scope.node, scope.parent or 0, facts.index.statement_of(scope.node))
        for bindings in scope.bindings.values():
            for one in bindings:
                if isinstance(one.value, ast.Set) and one.statement is not None:
                    yield Site(one.value, one.scope, one.statement)


def _is_affected(facts: FileFacts, made: ast.expr, site: Site) -> bool:
    """Whether the order of a set changes with the hash seed."""
    if not isinstance(made, ast.Call):
        return holds_text(facts, made, site.scope)
    if made.args:
        return len(made.args) == 1 and not made.keywords and holds_text(facts, made.args[0], site.scope)
    targets = site.statement.targets if isinstance(site.statement, ast.Assign) else []
    return len(targets) == 1 and site.statement.value is made and holds_text(facts, targets[0], site.scope)  # type: ignore[attr-defined]
