"""The functions that data-loading workers run when they start: what `worker_init_fn` is given."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from torchlint.facts.calls import Target, Way, functions_of
from torchlint.facts.data_loading.workers import LOADER, LOADERS, POSITIONS
from torchlint.facts.functions import is_plain
from torchlint.facts.scopes import CallSite, Scope, ScopeKind
from torchlint.facts.values import argument_of, may_be_hidden

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_PARAMETER = "worker_init_fn"


class WorkerInit(msgspec.Struct, frozen=True):
    """One place that hands a function to the workers of a loader."""

    value: ast.expr
    scope: int
    node: ast.AST
    """What is shown as the place."""
    loader: CallSite | None = None
    """The call of a loader, where it is one that is known."""


def worker_inits(facts: FileFacts) -> list[WorkerInit]:
    """Every place of a file that gives `worker_init_fn` a value and may start several workers."""
    if _PARAMETER not in facts.source.text and not any(_is_long(site.node) for site in facts.symbols.calls):
        return []
    found = [*_given_to_calls(facts)]
    for assignment in facts.symbols.assignments:
        target, value = assignment.target, assignment.value
        key = target.attr if isinstance(target, ast.Attribute) else getattr(target.slice, "value", None)
        if key == _PARAMETER and value is not None:
            found.append(WorkerInit(value, assignment.scope, assignment.statement))
    return found


def _is_long(call: ast.Call) -> bool:
    return len(call.args) > 10


def _given_to_calls(facts: FileFacts) -> Iterator[WorkerInit]:
    for site in facts.symbols.calls:
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


def functions_for(facts: FileFacts, init: WorkerInit) -> list[Target]:
    """The functions of this file that workers may run, and what partials give them; what is not known is left out."""
    found = [one for one in functions_of(facts, init.value, init.scope) if one is not None]
    return [one for one in found if one.way is Way.CALLED and not one.is_open and _is_simple(facts, one.function)]


def _is_simple(facts: FileFacts, function: Scope) -> bool:
    return function.kind is ScopeKind.LAMBDA or is_plain(facts, function)


def takes_the_worker(target: Target) -> bool:
    """Whether a function can be called with the number of the worker and nothing else."""
    arguments: ast.arguments = target.function.node.args  # type: ignore[attr-defined]
    names, named = target.unfilled, {name for name, _ in target.keywords}
    required = names[: max(len(names) - len(arguments.defaults), 0)]
    by_name = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    missing = [name for name in required[1:] if name not in named]
    missing += [argument.arg for argument, default in by_name if default is None and argument.arg not in named]
    is_free = bool(arguments.vararg) if not names else names[0] not in named
    return is_free and not missing
