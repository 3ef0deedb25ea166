"""TL118 uninitialised-memory: memory that is read before anything writes it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from torchlint.checks.framework.drafts import Draft, OperatorUse
from torchlint.checks.framework.operator_verdict import judge_operators
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.spelling import spelling_of
from torchlint.checks.framework.visit import Visit
from torchlint.checks.memory.uninitialised.exposures import exposures
from torchlint.checks.memory.uninitialised.makers import MAKERS, METHOD_MAKERS, TYPED
from torchlint.diagnostics import Confidence
from torchlint.project.index import Project

_CODE = "TL118"
_USES = (OperatorUse("uninitialized_memory"),)
_CONFIDENCES = {"parameter": Confidence.MEDIUM, "unseen": Confidence.LOW}


def _judge(draft: Draft, project: Project) -> Draft | None:
    """Newer releases fill such memory while the determinism mode is on: then there is nothing to say."""
    judged = judge_operators(draft, project)
    if judged is None:
        return None
    older = judged.values["older"]
    values = {**draft.values, "older": f", {older}" if older else ""}
    return dataclasses.replace(draft, values=values, severity=judged.severity)


@check(
    codes=(_CODE,),
    triggers=Triggers(
        calls=MAKERS | TYPED,
        methods=METHOD_MAKERS | {"new", "resize_", "resize_as_"},
    ),
    judge=_judge,
)
def find(visit: Visit) -> Iterator[Finding]:
    """The call that makes the memory."""
    exposure = visit.facts.once(exposures).get(id(visit.call))
    if exposure is not None:
        yield Finding(
            _CODE,
            visit.node,
            values={"spelling": spelling_of(visit), "name": exposure.name},
            message=exposure.how,
            confidence=Confidence.LOW if exposure.is_doubtful else _CONFIDENCES.get(exposure.how),
            operators=_USES,
            related=((exposure.reading, "here it is read" if exposure.how != "unseen" else "here it is returned"),),
        )
