"""Registries: tables that a decorator fills with classes and functions, and the code that picks from them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from torchlint.facts.file import FileFacts
from torchlint.facts.memoizing import followed
from torchlint.facts.notation import is_of_project, maker_of, name_in, plain
from torchlint.facts.scopes import BindingKind
from torchlint.facts.tree import last_word

_REGISTRY = re.compile(r"registr|factory", re.IGNORECASE)
"""What objects that keep classes are called, or their class."""
_CONSTANT = re.compile(r"[A-Z][A-Z0-9_]+")


class Registration(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A class or function of the file that a decorator of the project is given: it may be kept in a table."""

    symbol: str
    decorator: str
    """As a project name; of a method of a library's object, that object (`nets.py::MODELS`)."""


class TableUse(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Code that puts a parameter into a table of the module or of its object, or takes something out."""

    symbol: str
    table: str
    """A name in its file; as a project name, an object that decorators may fill."""
    fills: bool


def registrations(facts: FileFacts) -> list[Registration]:
    """What the file hands to decorators of the project. To be asked by `facts.cached`."""
    found = []
    for scope in facts.symbols.scopes:
        for decorator in getattr(scope.node, "decorator_list", ()):
            names = [one for one in sorted(decorator_names(facts, decorator, scope.parent or 0)) if is_of_project(one)]
            function = decorator.func if isinstance(decorator, ast.Call) else decorator
            holder = function.value if isinstance(function, ast.Attribute) else function  # `@MODELS.register()`
            registry = _registry(facts, holder, scope.parent or 0)
            found += [Registration(scope.qualname, name) for name in (*names, registry) if name is not None]
    return found


def decorator_names(facts: FileFacts, decorator: ast.expr, scope: int) -> frozenset[str]:
    """`@app.command()`, where `app = typer.Typer()`, is `typer.Typer.command`."""
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    return frozenset(maker_of(plain(name)) for name in facts.names(function, scope).names)


def table_uses(facts: FileFacts) -> Iterator[TableUse]:
    """Who fills a table with what it is given, and who takes from such a table."""
    filled = set()
    for stored in facts.symbols.assignments:
        is_given = facts.parameter_named(stored.value, stored.scope) is not None  # what a decorator is called with
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


def registry_uses(facts: FileFacts) -> Iterator[TableUse]:
    """Who reads an object that decorators may fill: `MODELS.build(config)`, `MODELS[name]`, `build(config, MODELS)`."""
    for name in facts.symbols.scopes[0].bindings:
        registry = _made_as(facts, name) if _may_be_registry(name) else None
        for read in facts.index.reads(0, name) if registry is not None else ():
            scope, statement = facts.index.scope_of(read), facts.index.statement_of(read)
            if not isinstance(statement, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):  # no decorator
                yield TableUse(facts.symbol_at(scope, statement), str(registry), fills=False)


def _registry(facts: FileFacts, name: ast.expr, scope: int) -> str | None:
    """The object of a module of the project that a name stands for, wherever it is imported from."""
    owner = facts.resolver.owner(name.id, scope) if isinstance(name, ast.Name) else None
    if not isinstance(name, ast.Name) or owner is None or owner.index or not _may_be_registry(name.id):
        return None
    return _made_as(facts, name.id)


def _may_be_registry(name: str) -> bool:
    return _CONSTANT.fullmatch(name) is not None or _REGISTRY.search(name) is not None


@followed(otherwise=None)
def _made_as(facts: FileFacts, name: str) -> str | None:
    bindings = facts.symbols.scopes[0].bindings.get(name, [])
    binding = bindings[0] if len(bindings) == 1 else None
    if binding is None:
        return None
    if binding.kind is BindingKind.ASSIGN:
        maker = last_word(binding.value.func) if isinstance(binding.value, ast.Call) else ""
        return name_in(facts.path, name) if maker and _REGISTRY.search(f"{maker} {name}") else None
    target = binding.target
    if target is None or target.name is None:
        return None
    home = facts.resolver.modules.find(replace(target, name=None), facts.path)
    return None if home is None else _made_as(home, target.name)


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
    is_kept = isinstance(expression, ast.Attribute) and getattr(expression.value, "id", "") in ("self", "cls")
    kept_by = facts.class_of(scope) if is_kept else None
    return None if kept_by is None else f"{facts.symbols.scopes[kept_by].qualname}.{last_word(expression)}"
