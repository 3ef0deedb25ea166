"""TL605 zero-grad-fill: gradients filled with zeros where dropping them is cheaper."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.visit import Visit, spelling_of
from torchlint.facts.file import FileFacts
from torchlint.facts.tensors.methods import method_named
from torchlint.facts.training.steps import goes_backward
from torchlint.facts.tree import is_method_call, last_word
from torchlint.facts.values import argument_of

_CODE = "TL605"
_GRAPHS = ("cudagraph", "cuda.graph", "graphedcallable")
"""What the code that captures a CUDA graph is written with, without underscores."""


@check(codes=(_CODE,), triggers=Triggers(methods=frozenset({"zero_grad"})))
def find(visit: Visit) -> Iterator[Finding]:
    """The call that fills."""
    # Where no backward pass runs, zeros may stand for bad gradients, on purpose.
    if (
        is_method_call(visit.call, "zero_grad")
        and visit.value(argument_of(visit.call, "set_to_none", 0)).only(bool) is False
        and goes_backward(visit.facts, visit.scope)
        and not visit.facts.cached(_needs_gradients)
    ):
        yield Finding(_CODE, visit.node, {"spelling": spelling_of(visit)})


def _needs_gradients(facts: FileFacts) -> bool:
    """Whether code of this file changes gradients in place, or captures them in a CUDA graph."""
    code = facts.code.lower().replace("_", "")
    if any(word in code for word in _GRAPHS):
        return True
    calls = (site.node for site in facts.symbols.calls if is_method_call(site.node))
    added_to = [site.node.target for site in facts.symbols.assign_sites if isinstance(site.node, ast.AugAssign)]
    # A method that writes in place needs a gradient to be there.
    written = (call.func.value for call in calls if method_named(call.func.attr).writes not in ("", "one"))
    # `p.grad`, or `p.grad.data`.
    whole = (getattr(one, "value", one) if last_word(one) == "data" else one for one in (*added_to, *written))
    return any(isinstance(one, ast.Attribute) and one.attr == "grad" for one in whole)
