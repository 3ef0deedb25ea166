"""TL603 clip-before-unscale: gradients clipped while they are still multiplied by the scale."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from torchlint.checks.registration import Finding, Vocabulary, check
from torchlint.checks.visit import Visit
from torchlint.diagnostics import Confidence
from torchlint.facts.file import FileFacts
from torchlint.facts.scopes import CallSite
from torchlint.facts.training.gradient_scaling import CLIPS, scaled_clips

_CODE = "TL603"


def _is_scaled(facts: FileFacts, site: CallSite, selected: frozenset[str]) -> bool:
    return _CODE in selected and id(site.node) in facts.once(scaled_clips)


@check(cst.Call, codes=(_CODE,), vocabulary=Vocabulary(calls=CLIPS, worth=_is_scaled))
def find(visit: Visit) -> Iterator[Finding]:
    """The clip, with the backward pass that scaled and the step that unscales too late."""
    found = visit.facts.once(scaled_clips).get(id(visit.call))
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
