"""The functions that data-loading workers run when they start: what `worker_init_fn` is given."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchlint.facts.data_loading.workers import LOADER, LOADERS, POSITIONS
from torchlint.facts.own_functions import choices, is_plain, own_scope, returned_values
from torchlint.facts.scopes import BindingKind, CallSite, Scope, ScopeKind
from torchlint.facts.tree import is_own
from torchlint.facts.values import argument_of, may_be_hidden

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_PARAMETER = "worker_init_fn"


@dataclass(frozen=True, slots=True)
class WorkerFunction:
    """A function of this file, or a lambda, with the parameters that a partial has filled."""

    scope: Scope
    filled: int = 0
    """Positional parameters that are filled, `self` among them."""
    named: frozenset[str] = frozenset()

    @property
    def arguments(self) -> ast.arguments:
        return self.scope.node.args  # type: ignore[attr-defined, no-any-return]

    @property
    def positional(self) -> list[str]:
        """The parameters that are left to be filled by position."""
        arguments = self.arguments
        return [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)][self.filled :]

    @property
    def takes_the_worker(self) -> bool:
        """Whether it can be called with the number of the worker and nothing else."""
        arguments, names = self.arguments, self.positional
        required = names[: max(len(names) - len(arguments.defaults), 0)]
        by_name = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        missing = [name for name in required[1:] if name not in self.named]
        missing += [argument.arg for argument, default in by_name if default is None and argument.arg not in self.named]
        is_free = bool(arguments.vararg) if not names else names[0] not in self.named
        return is_free and not missing


@dataclass(frozen=True, slots=True)
class WorkerInit:
    """One place that hands a function to the workers of a loader."""

    value: ast.expr
    scope: int
    node: ast.AST
    """What is shown as the place."""
    loader: CallSite | None = None
    """The call of a loader, where it is one that is known."""


def worker_inits(facts: FileFacts) -> list[WorkerInit]:
    """Every place of a file that gives `worker_init_fn` a value and may start several workers."""
    if _PARAMETER not in facts.source.text and not any(_is_long(site.node) for site in facts.reading.calls):
        return []
    found = [*_given_to_calls(facts)]
    for assignment in facts.reading.assignments:
        target, value = assignment.target, assignment.value
        key = target.attr if isinstance(target, ast.Attribute) else getattr(target.slice, "value", None)
        if key == _PARAMETER and value is not None:
            found.append(WorkerInit(value, assignment.scope, assignment.statement))
    return found


def _is_long(call: ast.Call) -> bool:
    return len(call.args) > 10


def _given_to_calls(facts: FileFacts) -> Iterator[WorkerInit]:
    for site in facts.reading.calls:
        name = facts.names(site.node.func, site.scope).only or ""
        positions = POSITIONS if name == LOADER else {}
        value = argument_of(site.node, _PARAMETER, positions.get(_PARAMETER))
        is_loader = name in LOADERS or facts.imports_torch
        if (
            value is not None
            and is_loader
            and _may_have_several_workers(facts, site, name, positions.get("num_workers"))
        ):
            yield WorkerInit(value, site.scope, site.node, site if name in LOADERS else None)


def _may_have_several_workers(facts: FileFacts, site: CallSite, name: str, position: int | None) -> bool:
    given = argument_of(site.node, "num_workers", position)
    if given is None:
        return name not in LOADERS or may_be_hidden(site.node, position)
    values = facts.value(given, site.scope)
    return not values.is_known or any(isinstance(count, int) and count > 1 for count in values.constants)


def functions_of(facts: FileFacts, value: ast.expr, scope: int, depth: int = 4) -> Iterator[WorkerFunction]:
    """The functions of this file that an expression may stand for; what is not known is left out."""
    if depth == 0:
        return
    if isinstance(value, ast.IfExp):
        for choice in choices(value):
            yield from functions_of(facts, choice, scope, depth - 1)
    elif isinstance(value, ast.Lambda):
        yield WorkerFunction(facts.once(_lambdas)[value])
    elif isinstance(value, ast.Call):
        yield from _from_call(facts, value, scope, depth)
    elif is_own(value):
        yield from _method(facts, value.attr, scope)
    else:
        names = facts.names(value, scope)
        found = own_scope(facts, names.only or "")
        if found is not None:
            function = facts.reading.scopes[found]
            if function.kind is ScopeKind.FUNCTION and is_plain(facts, function):
                yield WorkerFunction(function)
        elif isinstance(value, ast.Name):
            yield from _bound(facts, value, scope, depth)


def _bound(facts: FileFacts, name: ast.Name, scope: int, depth: int) -> Iterator[WorkerFunction]:
    """What a name is bound to: a lambda, a partial, a choice."""
    owner = facts.resolver.owner(name.id, scope)
    bindings = owner.bindings[name.id] if owner else []
    for binding in bindings if len(bindings) < 4 else ():
        if binding.kind is BindingKind.ASSIGN and isinstance(binding.value, ast.Lambda | ast.Call | ast.IfExp):
            yield from functions_of(facts, binding.value, binding.scope, depth - 1)


def _from_call(facts: FileFacts, call: ast.Call, scope: int, depth: int) -> Iterator[WorkerFunction]:
    """`partial(function, seed=1)`, or a function that makes the function."""
    if facts.names(call.func, scope).only == "functools.partial":
        if not call.args or may_be_hidden(call, len(call.args) - 1):
            return
        named = frozenset(keyword.arg for keyword in call.keywords if keyword.arg)
        for inner in functions_of(facts, call.args[0], scope, depth - 1):
            yield WorkerFunction(inner.scope, inner.filled + len(call.args) - 1, inner.named | named)
        return
    maker = made_by(facts, call, scope)
    values = [] if maker is None else returned_values(facts, maker.index)
    if maker is not None and len(values) == 1 and isinstance(values[0], ast.Name | ast.Lambda):
        yield from functions_of(facts, values[0], maker.index, depth - 1)


def made_by(facts: FileFacts, call: ast.Call, scope: int) -> Scope | None:
    """The plain function of this file that a call runs."""
    found = own_scope(facts, facts.names(call.func, scope).only or "")
    function = None if found is None else facts.reading.scopes[found]
    if function is None or function.kind is not ScopeKind.FUNCTION or not is_plain(facts, function):
        return None
    return function


def _method(facts: FileFacts, name: str, scope: int) -> Iterator[WorkerFunction]:
    owner = facts.class_of(scope)
    bindings = [] if owner is None else facts.reading.scopes[owner].bindings.get(name, [])
    if len(bindings) != 1 or bindings[0].definition is None:
        return
    method = facts.reading.scopes[bindings[0].definition]
    if method.kind is ScopeKind.FUNCTION and is_plain(facts, method):
        decorators = method.node.decorator_list  # type: ignore[attr-defined]
        is_static = any(isinstance(decorator, ast.Name) and decorator.id == "staticmethod" for decorator in decorators)
        yield WorkerFunction(method, 0 if is_static else 1)


def _lambdas(facts: FileFacts) -> dict[ast.AST, Scope]:
    return {scope.node: scope for scope in facts.reading.scopes if scope.kind is ScopeKind.LAMBDA}
