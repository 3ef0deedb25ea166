"""Registries: tables that a decorator fills with classes and functions, and the code that picks from them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchlint.facts.scopes import ScopeKind
from torchlint.facts.tree import is_self

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts


@dataclass(frozen=True, slots=True)
class Registration:
    """A class or function of the file that a decorator of the project is given: it may be kept in a table."""

    symbol: str
    decorator: str
    """As a project name."""


@dataclass(frozen=True, slots=True)
class TableUse:
    """Code that puts a parameter into a table of the module or of its object, or takes something out."""

    symbol: str
    table: str
    fills: bool


def registrations(facts: FileFacts) -> list[Registration]:
    """What the file hands to decorators of the project. To be asked by `facts.cached`."""
    return list(_registrations(facts))


def _registrations(facts: FileFacts) -> Iterator[Registration]:
    for scope in facts.symbols.scopes:
        if scope.kind in (ScopeKind.FUNCTION, ScopeKind.CLASS) and scope.parent is not None:
            for decorator in scope.node.decorator_list:  # type: ignore[attr-defined]
                for name in sorted(decorator_names(facts, decorator, scope.parent)):
                    if "::" in name:
                        yield Registration(scope.qualname, name)


def decorator_names(facts: FileFacts, decorator: ast.expr, scope: int) -> frozenset[str]:
    """`@app.command()`, where `app = typer.Typer()`, is `typer.Typer.command`."""
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    return frozenset(name.replace("()", "") for name in facts.names(function, scope).names)


def table_uses(facts: FileFacts) -> Iterator[TableUse]:
    """Who fills a table with what it is given, and who takes from such a table."""
    filled = set()
    for stored in facts.symbols.assignments:
        is_given = _is_given(facts, stored.value, stored.scope)
        holder = stored.target.value if isinstance(stored.target, ast.Subscript) and is_given else None
        table = _table(facts, holder, stored.scope)
        if table is not None:
            filled.add(table)
            yield TableUse(facts.symbol_at(stored.scope, stored.statement), table, fills=True)
    for statement, scope in facts.symbols.scope_of.items() if filled else ():
        for node in facts.index.within(statement):
            table = _table(facts, _taken_from(node), scope)
            if table in filled:
                yield TableUse(facts.symbol_at(scope, statement), str(table), fills=False)


def _is_given(facts: FileFacts, value: ast.expr | None, scope: int) -> bool:
    """Whether a value is a parameter: what a decorator is called with."""
    return value is not None and facts.parameter_named(value, scope) is not None


def _taken_from(node: ast.AST) -> ast.expr | None:
    """`TABLE` in `TABLE[name]` and `TABLE.get(name)`."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        return node.value
    return node.value if isinstance(node, ast.Attribute) and node.attr in ("get", "pop") else None


def _table(facts: FileFacts, expression: ast.expr | None, scope: int) -> str | None:
    """A name of the module, or an attribute of the object or the class."""
    if isinstance(expression, ast.Name):
        owner = facts.resolver.owner(expression.id, scope)
        return expression.id if owner is not None and owner.index == 0 else None
    if not isinstance(expression, ast.Attribute) or not isinstance(expression.value, ast.Name):
        return None
    owner_index = facts.class_of(scope)
    is_own = is_self(expression.value) or expression.value.id == "cls"
    if owner_index is None or not is_own:
        return None
    return f"{facts.symbols.scopes[owner_index].qualname}.{expression.attr}"
