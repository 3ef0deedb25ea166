"""TL310 unpreserved-rng-state: the backward pass computes again with other random numbers."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.spelling import shortened
from torchlint.checks.framework.visit import Visit
from torchlint.checks.randomness.drawing import draw_of
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
    draw = draw_of(visit.facts, part, visit.scope)
    if draw is not None:
        values = {"spelling": shortened(ast.unparse(visit.call.func))}
        yield Finding(_CODE, visit.node, values, related=((draw, "here it draws"),))
