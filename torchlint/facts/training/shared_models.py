"""Models in shared memory: which functions of other processes they are handed to, and which functions step them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchlint.facts.functions import positional_parameters
from torchlint.facts.scopes import BindingKind, CallSite
from torchlint.facts.starters import handed_arguments, handed_function, starter_of
from torchlint.facts.training.optimizers import is_optimizer
from torchlint.facts.tree import is_method_call, last_word
from torchlint.facts.values import argument_of

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts


@dataclass(frozen=True, slots=True)
class Stepped:
    """A parameter of a function that the function trains: a model, or the optimizer of one."""

    function: str
    """As a project name."""
    position: int


def stepped_parameters(facts: FileFacts) -> Iterator[Stepped]:
    """Parameters `model` of `SGD(model.parameters())` and `optimizer` of `optimizer.step()`, in source order."""
    for site in facts.reading.calls:
        for trained in _trained(facts, site.node, site.scope):
            name = facts.parameter_named(trained, site.scope)
            function = facts.function_of(site.scope)
            if name is not None and function is not None:
                position = _position(facts, function, name)
                if position is not None:
                    yield Stepped(f"{facts.path}::{facts.reading.scopes[function].qualname}", position)


def _trained(facts: FileFacts, call: ast.Call, scope: int) -> Iterator[ast.expr]:
    if is_method_call(call, "step") and is_optimizer(facts, call.func.value, scope):
        yield call.func.value
    model = _optimised(call)
    if model is not None:
        yield model


def _optimised(call: ast.Call) -> ast.expr | None:
    """The `model` of a call that takes `model.parameters()` first: an optimizer."""
    given = argument_of(call, "params", 0)
    if is_method_call(given, "parameters"):
        is_made = "clip" not in ast.unparse(call.func) and ast.unparse(call.func)[:1] != "_"
        return given.func.value if is_made and last_word(call.func)[:1].isupper() else None
    return None


def _position(facts: FileFacts, function: int, name: str) -> int | None:
    names = positional_parameters(facts.reading.scopes[function])
    return names.index(name) if name in names else None


def handed_out(facts: FileFacts, site: CallSite) -> Iterator[tuple[Stepped, CallSite]]:
    """The parameters that a shared model, or its optimizer, becomes in other processes; with what starts those.

    `site` is the call of `model.share_memory()`.
    """
    assert isinstance(site.node.func, ast.Attribute)
    model = site.node.func.value
    if not isinstance(model, ast.Name):
        return
    variable = facts.variable(model, site.scope)
    shared = {model.id, *_optimizers_of(facts, model.id, site.scope)}
    for start in facts.reading.calls:
        if variable is not None and facts.variable(model, start.scope) == variable:
            yield from _given_to(facts, start, shared)


def _optimizers_of(facts: FileFacts, model: str, scope: int) -> Iterator[str]:
    owner = facts.resolver.owner(model, scope)
    for name, bindings in owner.bindings.items() if owner else ():
        for binding in bindings:
            made = binding.value if binding.kind is BindingKind.ASSIGN else None
            optimised = _optimised(made) if isinstance(made, ast.Call) else None
            if isinstance(optimised, ast.Name) and optimised.id == model:
                yield name


def _given_to(facts: FileFacts, start: CallSite, shared: set[str]) -> Iterator[tuple[Stepped, CallSite]]:
    starter = starter_of(facts, start.node, start.scope)
    target = None if starter is None else handed_function(starter, start.node)
    function = facts.names(target, start.scope).only if target is not None else None
    if starter is None or function is None or "::" not in function:
        return
    arguments, _ = handed_arguments(starter, start.node)
    for position, argument in enumerate(arguments):
        if isinstance(argument, ast.Starred):
            return
        if isinstance(argument, ast.Name) and argument.id in shared:
            yield Stepped(function, position), start
