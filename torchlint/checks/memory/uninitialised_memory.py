"""TL118 uninitialised-memory: memory that is read before anything writes it."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from msgspec.structs import replace

from torchlint.checks.framework.drafts import Draft, OperatorUse
from torchlint.checks.framework.operator_verdict import judge_operators
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.spelling import spelling_of
from torchlint.checks.framework.visit import Visit
from torchlint.checks.memory.uninitialised.exposures import CODE, exposure
from torchlint.checks.memory.uninitialised.makers import MAKERS, METHOD_MAKERS, TYPED, makes_uninitialised
from torchlint.checks.memory.uninitialised.memory import Memory
from torchlint.checks.memory.uninitialised.parameters import is_filled_by_class, parameter_made
from torchlint.diagnostics import Related
from torchlint.project.index import Project

_USES = (OperatorUse("uninitialized_memory"),)


def _judge(draft: Draft, project: Project) -> Draft | None:
    """Newer releases fill such memory while the determinism mode is on: then there is nothing to say."""
    judged = judge_operators(draft, project)
    found = _followed(draft, project) if judged is not None and draft.exits else draft
    if judged is None or found is None:
        return None
    older = judged.values["older"]
    values = {**found.values, "older": f", {older}" if older else ""}
    confidence = found.confidence if judged.confidence is draft.confidence else judged.confidence
    return replace(found, values=values, severity=judged.severity, confidence=confidence)


def _followed(draft: Draft, project: Project) -> Draft | None:
    """The draft with what other files make of the memory; None where one of them may fill it."""
    others = project.flows.contained(draft.exits, Memory)
    is_returned = draft.message != "default"
    if others is None or any(one.writes for one in others):
        return draft if is_returned and others is None else None
    read = next((one.reads[0] for one in others if one.reads), None)
    is_read_at_home = not is_returned and bool(draft.related)
    if read is None or is_read_at_home:
        return draft if is_returned or is_read_at_home else None
    sink = project.flows.sink_of(draft.exits, functools.partial(Memory, shown=read.node))
    related = () if sink is None else (*sink.trace, Related(sink.location, sink.what))
    return replace(draft, message="default", confidence=None, related=related)


@check(
    codes=(CODE,),
    triggers=Triggers(
        calls=MAKERS | TYPED,
        methods=METHOD_MAKERS | {"new", "resize_", "resize_as_"},
    ),
    judge=_judge,
)
def find(visit: Visit) -> Iterator[Finding]:
    """The call that makes the memory."""
    found = exposure(visit.facts, visit.site) if makes_uninitialised(visit.facts, visit.site) else None
    if found is not None:
        symbol = visit.facts.symbol_of(visit.site)
        values = {**found.values, "spelling": spelling_of(visit), "symbol": symbol}
        yield replace(found, values=values, operators=_USES)


@check(codes=(CODE,), triggers=Triggers(calls=MAKERS | TYPED), judge=judge_operators, is_open=True)
def left_open(visit: Visit) -> Iterator[Finding]:
    """A parameter whose class is not seen to give it values: `self.bias = nn.Parameter(torch.empty(8))`."""
    made = parameter_made(visit.facts, visit.site) if makes_uninitialised(visit.facts, visit.site) else None
    if made is not None and not is_filled_by_class(visit.facts, made):
        yield Finding(CODE, visit.node, {"symbol": visit.facts.symbol_of(visit.site)}, "open", operators=_USES)
