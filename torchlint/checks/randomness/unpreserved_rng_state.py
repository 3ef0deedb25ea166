"""TL310 unpreserved-rng-state: the backward pass computes again with other random numbers."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.spelling import shortened
from torchlint.checks.framework.visit import Visit
from torchlint.facts.calls import called_functions
from torchlint.facts.classes import is_module_class, method_of
from torchlint.facts.definitions import definitions_of
from torchlint.facts.ends import Definition
from torchlint.facts.functions import own_scope
from torchlint.facts.memoizing import memoized
from torchlint.facts.scopes import CallSite, ScopeKind
from torchlint.facts.tensors.methods import function_named, method_named
from torchlint.facts.training.training_mode import DROPOUT_FUNCTIONS, DROPOUTS
from torchlint.facts.values import argument_of

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_CODE = "TL310"
_CHECKPOINTS = {
    "torch.utils.checkpoint.checkpoint": "function",
    "torch.utils.checkpoint.checkpoint_sequential": "functions",
    "torch.distributed.algorithms._checkpoint.checkpoint_wrapper.checkpoint_wrapper": "module",
}
"""Functions that compute a part again in the backward pass, and the parameter that takes the part."""
_DEPTH = 4


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


def _draw_of(facts: FileFacts, function: ast.expr, scope: int) -> ast.Call | None:
    """A call by which a function, method or module of this file draws, when an expression that means it is called."""
    if isinstance(function, ast.Lambda):
        return _in_function(facts, facts.index.inner_scopes[function].index, _DEPTH)
    call = ast.Call(func=function, args=[], keywords=[])
    for callee in called_functions(facts, call, scope):
        found = _in_function(facts, callee, _DEPTH)
        if found is not None:
            return found
    return _in_values(facts, function, scope, _DEPTH)


@memoized
def _in_function(facts: FileFacts, function: int, depth: int) -> ast.Call | None:
    """The first draw in a function, or in what it calls."""
    if depth <= 0:
        return None
    for site in facts.cached(_calls_inside).get(function, ()):
        if _draws_itself(facts, site):
            return site.node
        for callee in called_functions(facts, site.node, site.scope):
            found = _in_function(facts, callee, depth - 1)
            if found is not None:
                return found
        found = _in_values(facts, site.node.func, site.scope, depth - 1)
        if found is not None:
            return found
    return None


def _calls_inside(facts: FileFacts) -> dict[int, list[CallSite]]:
    """The calls of each function or lambda, comprehensions included."""
    found: dict[int, list[CallSite]] = {}
    for site in facts.symbols.calls:
        runs = next(
            (
                scope
                for scope in facts.around(site.scope)
                if facts.symbols.scopes[scope].kind in (ScopeKind.FUNCTION, ScopeKind.LAMBDA)
            ),
            0,
        )
        found.setdefault(runs, []).append(site)
    return found


def _draws_itself(facts: FileFacts, site: CallSite) -> bool:
    call, name = site.node, facts.names(site.node.func, site.scope).only
    if any(keyword.arg == "generator" for keyword in call.keywords):
        return False
    method = method_named(call.func.attr) if isinstance(call.func, ast.Attribute) else None
    if function_named(name).draws or (method is not None and method.draws and method.writes):
        return True
    if name not in DROPOUT_FUNCTIONS:
        return False
    training = facts.value(argument_of(call, "training", 2), site.scope)
    return not (training.is_known and not any(training.constants)) and not _is_zero(facts, call, 1, site.scope)


def _is_zero(facts: FileFacts, call: ast.Call, position: int, scope: int) -> bool:
    rate = facts.value(argument_of(call, "p", position), scope)
    return rate.is_known and not any(rate.constants)


def _in_values(facts: FileFacts, function: ast.expr, scope: int, depth: int) -> ast.Call | None:
    """A draw by one of the layers that an attribute or a name may hold, also in a container or a loop over one."""
    if depth <= 0:
        return None
    for value, where in _values(facts, function, scope):
        for call in (node for node in ast.walk(value) if isinstance(node, ast.Call)):
            name = facts.names(call.func, where).only or ""
            if name in DROPOUTS and not _is_zero(facts, call, 0, where):
                return call
            found = own_scope(facts, name)
            forward = method_of(facts, found, "forward") if is_module_class(facts, found) else None
            inner = None if forward is None else _in_function(facts, forward, depth - 1)
            if inner is not None:
                return inner
    return None


def _values(facts: FileFacts, function: ast.expr, scope: int) -> Iterator[tuple[ast.expr, int]]:
    """What `self.layers[i]`, `self.layer` or `layer` of `for layer in self.layers` is made from."""
    while isinstance(function, ast.Subscript):
        function = function.value
    for end in definitions_of(facts, function, scope):
        if isinstance(end, Definition):
            yield end.node, end.scope
