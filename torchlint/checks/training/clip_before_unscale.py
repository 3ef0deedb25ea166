"""TL603 clip-before-unscale: gradients clipped while they are still multiplied by the scale."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.visit import Visit
from torchlint.checks.training.gradient_scaling import CLIPS, scaled_clips
from torchlint.diagnostics import Confidence

_CODE = "TL603"


@check(codes=(_CODE,), triggers=Triggers(calls=CLIPS))
def find(visit: Visit) -> Iterator[Finding]:
    """The clip, with the backward pass that scaled and the step that unscales too late."""
    found = visit.facts.cached(scaled_clips).get(id(visit.call))
    if found is None:
        return
    unscales = found.late or found.step
    related: tuple[tuple[ast.AST, str], ...] = (
        (found.backward, "here the gradients are multiplied by the scale"),
        (unscales, "here they are divided again"),
    )
    yield Finding(
        _CODE,
        visit.node,
        {"function": ast.unparse(visit.call.func), "scaler": found.scaler, "optimizer": found.optimizer},
        "late" if found.late else "default",
        confidence=Confidence.HIGH if found.is_known else None,
        related=related,
    )
