"""TL605 zero-grad-fill: gradients filled with zeros where dropping them is cheaper."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.spelling import spelling_of
from torchlint.checks.framework.visit import Visit
from torchlint.facts.control.blocks import enclosing
from torchlint.facts.control.conditions import conditions_on
from torchlint.facts.scopes import CallSite
from torchlint.facts.tensors.methods import method_named
from torchlint.facts.training.steps import goes_backward
from torchlint.facts.tree import is_method_call, method_called
from torchlint.facts.values import argument_of

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_CODE = "TL605"
_METHODS = frozenset({"zero_grad", "zero_", "fill_"})
_GRAPHS = ("cudagraph", "cuda.graph", "graphedcallable")
"""What the code that captures a CUDA graph is written with, without underscores."""


@check(codes=(_CODE,), triggers=Triggers(methods=_METHODS))
def find(visit: Visit) -> Iterator[Finding]:
    """The call that fills."""
    method = method_called(visit.call)
    if method in _METHODS and _fills_with_zeros(visit.facts, visit.site):
        variant = "default" if visit.call.args or visit.call.keywords else "by_hand"
        yield Finding(_CODE, visit.node, {"spelling": spelling_of(visit)}, variant)


def _fills_with_zeros(facts: FileFacts, site: CallSite) -> bool:
    """`zero_grad(set_to_none=False)`, or `p.grad.zero_()` in a loop over parameters."""
    if not isinstance(site.node.func, ast.Attribute):
        return False
    if site.node.func.attr == "zero_grad":
        known = facts.value(argument_of(site.node, "set_to_none", 0), site.scope)
        # Where no backward pass runs, zeros may stand for bad gradients, on purpose.
        is_filled = known.only(bool) is False and goes_backward(facts, site.scope)
    else:
        is_filled = _fills(facts, site) and _is_in_loop(facts, site) and not _is_an_option(facts, site)
    return is_filled and not facts.cached(_needs_gradients)


def _fills(facts: FileFacts, site: CallSite) -> bool:
    function = site.node.func
    assert isinstance(function, ast.Attribute)
    if function.attr == "fill_":
        value = facts.value(site.node.args[0], site.scope) if len(site.node.args) == 1 else None
        if value is None or not value.is_known or any(constant != 0 for constant in value.constants):
            return False
    return _parameter_of(function.value) is not None


def _parameter_of(gradient: ast.expr) -> ast.expr | None:
    """`p` of `p.grad` or `p.grad.data`."""
    if isinstance(gradient, ast.Attribute) and gradient.attr == "data":
        gradient = gradient.value
    return gradient.value if isinstance(gradient, ast.Attribute) and gradient.attr == "grad" else None


def _is_in_loop(facts: FileFacts, site: CallSite) -> bool:
    """Whether the parameter comes from a loop over `model.parameters()` or `group["params"]`."""
    assert isinstance(site.node.func, ast.Attribute)
    parameter = _parameter_of(site.node.func.value)
    if not isinstance(parameter, ast.Name):
        return False
    for outer in enclosing(facts, site.statement):
        if isinstance(outer, ast.For) and parameter.id in {
            node.id for node in ast.walk(outer.target) if isinstance(node, ast.Name)
        }:
            return _gives_parameters(outer.iter)
    return False


def _gives_parameters(iterated: ast.expr) -> bool:
    if isinstance(iterated, ast.Call):
        return method_called(iterated) in ("parameters", "named_parameters")
    index = iterated.slice if isinstance(iterated, ast.Subscript) else None
    return isinstance(index, ast.Constant) and index.value == "params"


def _is_an_option(facts: FileFacts, site: CallSite) -> bool:
    """`if set_to_none: p.grad = None`, `else: p.grad.zero_()`."""
    return any("none" in test.lower().replace(".grad is none", "") for test in conditions_on(facts, site.statement))


def _needs_gradients(facts: FileFacts) -> bool:
    """Whether code of this file changes gradients in place, or captures them in a CUDA graph."""
    code = facts.code.lower().replace("_", "")
    if any(word in code for word in _GRAPHS):
        return True
    for site in facts.symbols.calls:
        call = site.node  # a method that needs a gradient to be there
        if (
            is_method_call(call)
            and method_named(call.func.attr).writes not in ("", "one")
            and _parameter_of(call.func.value)
        ):
            return True
    return any(
        isinstance(site.node, ast.AugAssign) and _parameter_of(site.node.target) is not None
        for site in facts.symbols.assign_sites
    )
