"""The functions of a file: where they are defined, what they take, and what they return."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.catalogue.load import load_values
from torchlint.facts.grouping import grouped
from torchlint.facts.notation import symbol_of
from torchlint.facts.scopes import Binding, BindingKind, Scope, ScopeKind
from torchlint.facts.tree import is_literal_none

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts


def own_scope(facts: FileFacts, name: str) -> int | None:
    """The scope of the function or class of this file that a full name means."""
    path, qualname = symbol_of(name)
    return facts.cached(_by_qualname).get(qualname) if path == facts.path else None


def _by_qualname(facts: FileFacts) -> dict[str, int | None]:
    """The scopes that a name means for certain: where it is defined twice, None."""
    found: dict[str, int | None] = {}
    for scope in facts.symbols.scopes[1:]:
        if scope.kind in (ScopeKind.FUNCTION, ScopeKind.CLASS):
            found[scope.qualname] = None if scope.qualname in found else scope.index
    return found


def positional_parameters(function: Scope) -> list[str]:
    """The parameters that an argument by position may reach, a method's object among them."""
    arguments: ast.arguments = function.node.args  # type: ignore[attr-defined]
    return [one.arg for one in (*arguments.posonlyargs, *arguments.args)]


def parameters_by_keyword(function: Scope) -> list[str]:
    """The parameters that an argument may name."""
    arguments: ast.arguments = function.node.args  # type: ignore[attr-defined]
    return [one.arg for one in (*arguments.args, *arguments.kwonlyargs)]


def parameter_binding(facts: FileFacts, function: int, name: str) -> Binding:
    """What says of a parameter which default and which annotation it has."""
    bindings = facts.symbols.scopes[function].bindings[name]
    return next(one for one in bindings if one.kind is BindingKind.PARAMETER)


def decorators_of(facts: FileFacts, function: Scope) -> list[str | None]:
    """The full names of a function's decorators; None for one that is not known."""
    decorators: list[ast.expr] = getattr(function.node, "decorator_list", [])
    return [facts.names(decorator, function.parent or 0).only for decorator in decorators]


def is_method(facts: FileFacts, function: Scope) -> bool:
    """Whether a function stands in the body of a class."""
    return function.parent is not None and facts.symbols.scopes[function.parent].kind is ScopeKind.CLASS


def is_plain(facts: FileFacts, function: Scope) -> bool:
    """Whether a call gives what the function returns: no generator, no coroutine, no decorator that changes it."""
    if not isinstance(function.node, ast.FunctionDef):
        return False
    is_known = all(name in load_values().transparent for name in decorators_of(facts, function))
    return is_known and function.index not in facts.cached(_yields)


def returned_values(facts: FileFacts, function: int) -> list[ast.expr]:
    """All that a function returns, but None."""
    return facts.cached(_returns).get(function, [])


def _returns(facts: FileFacts) -> dict[int, list[ast.expr]]:
    given = ((scope, one.value) for one, scope in facts.symbols.scope_of.items() if isinstance(one, ast.Return))
    return grouped((scope, value) for scope, value in given if value is not None and not is_literal_none(value))


def yielded_values(facts: FileFacts, function: int) -> list[ast.expr]:
    """What a generator gives, one after another."""
    return facts.cached(_yields).get(function, [])


def _yields(facts: FileFacts) -> dict[int, list[ast.expr]]:
    """What the generators among the functions give: nothing where they only wait for what they are sent."""
    found: dict[int, list[ast.expr]] = {}
    for statement, scope in facts.symbols.scope_of.items():
        given, function = getattr(statement, "value", None), facts.function_of(scope)
        if isinstance(given, (ast.Yield, ast.YieldFrom)) and function is not None:
            found.setdefault(function, []).extend([] if given.value is None else [given.value])
    return found


def choices(value: ast.expr) -> Iterator[ast.expr]:
    """`Linear(3, 3)` and `Identity()` in `Linear(3, 3) if wide else Identity()`; None is no choice."""
    if isinstance(value, ast.IfExp):
        yield from choices(value.body)
        yield from choices(value.orelse)
    elif not is_literal_none(value):
        yield value
