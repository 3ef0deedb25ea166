"""TL310 unpreserved-rng-state: the backward pass computes again with other random numbers."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.visit import Visit, shortened
from torchlint.facts.calls import known_functions
from torchlint.facts.classes import is_module_class, method_of
from torchlint.facts.definitions import definitions_of
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.values import Definition
from torchlint.facts.functions import own_scope
from torchlint.facts.memoizing import followed
from torchlint.facts.scopes import CallSite
from torchlint.facts.tensors.methods import function_named, method_named
from torchlint.facts.training.training_mode import DROPOUT_FUNCTIONS, DROPOUTS
from torchlint.facts.values import argument_of

_CODE = "TL310"
_CHECKPOINTS = {
    "torch.utils.checkpoint.checkpoint": "function",
    "torch.utils.checkpoint.checkpoint_sequential": "functions",
    "torch.distributed.algorithms._checkpoint.checkpoint_wrapper.checkpoint_wrapper": "module",
}
"""Functions that compute a part again in the backward pass, and the parameter that takes the part."""


@check(codes=(_CODE,), triggers=Triggers(calls=frozenset(_CHECKPOINTS)))
def find(visit: Visit) -> Iterator[Finding]:
    """A checkpoint without the random state, around a function of this file that evidently draws."""
    name = visit.callee()
    if name not in _CHECKPOINTS:
        return
    preserved = visit.value(argument_of(visit.call, "preserve_rng_state", None))
    part = argument_of(visit.call, _CHECKPOINTS[name], 0)
    if not preserved.is_known or any(preserved.constants) or part is None:
        return
    draw = _draw_of(visit.facts, part, visit.scope)
    if draw is not None:
        values = {"spelling": shortened(ast.unparse(visit.call.func))}
        yield Finding(_CODE, visit.node, values, related=((draw, "here it draws"),))


@followed(otherwise=None)
def _draw_of(facts: FileFacts, part: ast.expr, scope: int) -> ast.Call | None:
    """A call by which a function, a layer or a module of this file draws, when what means it is called."""
    layers = list(_layers(facts, part, scope))
    inside = set(ast.walk(part)) if isinstance(part, ast.Lambda) else set()
    owners = (own_scope(facts, name) for name, _, _ in layers)
    forwards = (method_of(facts, owner, "forward") for owner in owners if is_module_class(facts, owner))
    called = known_functions(facts, part, scope)
    run = [*called, *(one for one in forwards if one is not None)]
    calls = [site for site in facts.symbols.calls if site.node in inside] if inside else []
    for site in (*calls, *(site for function in run for site in facts.calls_in(function))):
        found = site.node if _draws_itself(facts, site) else _draw_of(facts, site.node.func, site.scope)
        if found is not None:
            return found
    dropping = (made for name, made, where in layers if name in DROPOUTS and not _is_zero(facts, made, 0, where))
    return next(dropping, None)


def _layers(facts: FileFacts, part: ast.expr, scope: int) -> Iterator[tuple[str, ast.Call, int]]:
    """What makes the layers that a name or an attribute holds, also in a container or a loop over one, by class."""
    while isinstance(part, ast.Subscript):
        part = part.value
    for end in definitions_of(facts, part, scope):
        for call in ast.walk(end.node) if isinstance(end, Definition) else ():
            if isinstance(call, ast.Call) and isinstance(end, Definition):
                yield facts.names(call.func, end.scope).only or "", call, end.scope


def _draws_itself(facts: FileFacts, site: CallSite) -> bool:
    call, name = site.node, facts.names(site.node.func, site.scope).only
    if any(keyword.arg == "generator" for keyword in call.keywords):
        return False
    method = method_named(call.func.attr) if isinstance(call.func, ast.Attribute) else None
    if function_named(name).draws or (method is not None and method.draws and method.writes):
        return True
    training = facts.value(argument_of(call, "training", 2), site.scope)
    is_off = training.is_known and not any(training.constants)
    return name in DROPOUT_FUNCTIONS and not is_off and not _is_zero(facts, call, 1, site.scope)


def _is_zero(facts: FileFacts, call: ast.Call, position: int, scope: int) -> bool:
    rate = facts.value(argument_of(call, "p", position), scope)
    return rate.is_known and not any(rate.constants)
