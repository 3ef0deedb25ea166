"""Orders and hashes that change with the hash seed: of sets of text or of objects, and of text itself."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchlint.catalogue.values import Kind
from torchlint.facts.flow.tracker import Flow, follow
from torchlint.facts.order.analysis import OrderAnalysis, started
from torchlint.facts.scopes import CallSite, Site
from torchlint.facts.tensors.kinds import kind_of
from torchlint.facts.words import says

if TYPE_CHECKING:
    from torchlint.diagnostics import Location
    from torchlint.facts.file import FileFacts
    from torchlint.facts.flow.values import Exit

_HASH = "builtins.hash"
SET_MAKERS = frozenset({"builtins.set", "builtins.frozenset"})
_OF_TEXT = re.compile(r"(?:typing\.)?(?:list|set|sequence|iterable|collection|tuple)\[str\b", re.IGNORECASE)
_ADDRESSED = frozenset({"parameters", "modules", "children"})
"""Methods of a module that yield objects hashed by their address."""


@dataclass(frozen=True, slots=True)
class Salted:
    """What another hash seed changes: the order of a set that decides something, or a hash."""

    what: str
    location: Location
    exits: tuple[Exit, ...]
    """Where an order leaves the file that decides nothing in it."""


def salted(facts: FileFacts) -> Iterator[Salted]:
    """All that another hash seed changes in a file."""
    for order in facts.once(set_orders).values():
        yield Salted("the order of a set", facts.locate(order.site.node), tuple(order.flow.exits))
    for site in facts.reading.calls:
        if is_salted_hash(facts, site):
            yield Salted("a hash of text", facts.locate(site.node), ())


def is_salted_hash(facts: FileFacts, site: CallSite) -> bool:
    """Whether a call is `hash` of what may be text, and does not say what an object is equal to."""
    call = site.node
    if len(call.args) != 1 or facts.names(call.func, site.scope).only != _HASH:
        return False
    function = facts.function_of(site.scope)
    if function is not None and facts.reading.scopes[function].name in ("__hash__", "__eq__"):
        return False
    return _may_be_text(facts, call.args[0], site.scope)


def _may_be_text(facts: FileFacts, argument: ast.expr, scope: int) -> bool:
    if isinstance(argument, ast.Tuple):
        return any(_may_be_text(facts, element, scope) for element in argument.elts)
    return kind_of(facts, argument, scope) is Kind.TEXT


@dataclass(frozen=True, slots=True)
class SetOrder:
    """A set whose order decides something, or leaves the file."""

    site: Site
    flow: Flow


def set_orders(facts: FileFacts) -> dict[ast.AST, SetOrder]:
    """The sets of text, or of objects, whose order decides something or leaves the file, by what makes them."""
    found: dict[ast.AST, SetOrder] = {}
    for site in _set_sites(facts):
        if isinstance(site.node, ast.expr) and _is_affected(facts, site.node, site):
            flow = follow(OrderAnalysis(facts, into_datasets=False), started(facts, site.node))
            if flow.sink is not None or flow.exits:
                found[site.node] = SetOrder(site, flow)
    return found


def _set_sites(facts: FileFacts) -> Iterator[Site]:
    """All that makes sets: calls, comprehensions, and displays that get a name."""
    for site in facts.reading.calls:
        if facts.names(site.node.func, site.scope).only in SET_MAKERS:
            yield Site(site.node, site.scope, site.statement)
    for scope in facts.reading.scopes:
        if isinstance(scope.node, ast.SetComp):
            yield Site(scope.node, scope.parent or 0, facts.index.statement_of(scope.node))
        for bindings in scope.bindings.values():
            for one in bindings:
                if isinstance(one.value, ast.Set) and one.statement is not None:
                    yield Site(one.value, one.scope, one.statement)


def _is_affected(facts: FileFacts, made: ast.expr, site: Site) -> bool:
    """Whether the order of a set changes with the hash seed."""
    if not isinstance(made, ast.Call):
        return _is_salted(facts, made, site.scope)
    if not made.args:
        return _is_filled(facts, made, site)
    return len(made.args) == 1 and not made.keywords and _is_salted(facts, made.args[0], site.scope)


def _is_filled(facts: FileFacts, made: ast.Call, site: Site) -> bool:
    """`names = set()` that the same function fills with text, by `.add(...)` or `.update(...)`."""
    statement = site.statement
    if not isinstance(statement, ast.Assign) or statement.value is not made or len(statement.targets) != 1:
        return False
    target, function = ast.dump(statement.targets[0]).replace("Store", "Load"), facts.function_of(site.scope)
    for other in facts.reading.calls:
        method = other.node.func
        if not isinstance(method, ast.Attribute) or method.attr not in ("add", "update") or len(other.node.args) != 1:
            continue
        if ast.dump(method.value) == target and facts.function_of(other.scope) == function:
            element = other.node.args[0]
            if method.attr == "update":
                return _is_salted(facts, element, other.scope)
            return kind_of(facts, element, other.scope) is Kind.TEXT or _speaks_of_text(element)
    return False


def _is_salted(facts: FileFacts, elements: ast.expr, scope: int) -> bool:
    """Whether the elements are text, or objects hashed by address; sets of numbers keep their order."""
    if isinstance(elements, ast.GeneratorExp | ast.ListComp | ast.SetComp):
        if kind_of(facts, elements.elt, scope) is Kind.NUMBER:
            return False
        return _speaks_of_text(elements.elt) or _is_salted(facts, elements.generators[0].iter, scope)
    if isinstance(elements, ast.List | ast.Tuple | ast.Set):
        return any(kind_of(facts, element, scope) is Kind.TEXT for element in elements.elts)
    if kind_of(facts, elements, scope) is Kind.TEXT:
        return True
    if isinstance(elements, ast.Call) and isinstance(elements.func, ast.Attribute):
        return elements.func.attr in _ADDRESSED | {"split", "splitlines"} or _speaks_of_text(elements.func.value)
    return _is_annotated_text(facts, elements, scope) or _speaks_of_text(elements)


def _is_annotated_text(facts: FileFacts, elements: ast.expr, scope: int) -> bool:
    """`labels: list[str]`: the annotation of a name says that it holds text."""
    owner = facts.resolver.owner(elements.id, scope) if isinstance(elements, ast.Name) else None
    bindings = owner.bindings[elements.id] if owner is not None and isinstance(elements, ast.Name) else []
    annotations = [binding.annotation for binding in bindings]
    return bool(annotations) and all(a is not None and _OF_TEXT.match(ast.unparse(a)) for a in annotations)


def _speaks_of_text(expression: ast.expr) -> bool:
    """Whether the last word of a name, attribute or string key is one for text."""
    if isinstance(expression, ast.Subscript):
        key = expression.slice
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            return says(key.value, "text")
        return _speaks_of_text(expression.value)
    word = expression.attr if isinstance(expression, ast.Attribute) else getattr(expression, "id", "")
    return says(word, "text")
