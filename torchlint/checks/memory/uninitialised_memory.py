"""TL118 uninitialised-memory: memory that is read before anything writes it."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from torchlint.checks.framework.drafts import Draft, OperatorUse
from torchlint.checks.framework.operator_verdict import judge_operators
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.visit import Visit, spelling_of
from torchlint.checks.memory.uninitialised.makers import (
    MAKERS,
    METHOD_MAKERS,
    TYPED,
    is_beside_the_point,
    makes_uninitialised,
)
from torchlint.checks.memory.uninitialised.memory import Memory
from torchlint.checks.memory.uninitialised.parameters import (
    is_filled_by_class,
    may_come_from_elsewhere,
    parameter_made,
    reading_of,
)
from torchlint.diagnostics import Confidence, Related
from torchlint.facts.classes import is_module_class
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.tracker import follow
from torchlint.facts.flow.values import Field, Value
from torchlint.facts.scopes import CallSite
from torchlint.project.index import Project

_USES = (OperatorUse("uninitialized_memory"),)
_CODE = "TL118"
_READ = "here it is read"


def _judge(draft: Draft, project: Project) -> Draft | None:
    """Newer releases fill such memory while the determinism mode is on: then there is nothing to say."""
    judged = judge_operators(draft, project)
    others = project.flows.contained(draft.exits, Memory) if judged is not None else None
    if judged is None or others is None or any(one.writes for one in others):  # another file may fill it
        return None
    older = judged.values["older"]
    values = {**draft.values, "older": f", {older}" if older else ""}
    found = replace(draft, values=values, severity=judged.severity, confidence=judged.confidence)
    if found.related:
        return found
    reads = ((one.facts, read.node) for one in others if (read := one.exposed) is not None)
    return next((replace(found, related=(Related(facts.locate(node), _READ),)) for facts, node in reads), None)


@check(codes=(_CODE,), triggers=Triggers(calls=MAKERS | TYPED, methods=METHOD_MAKERS | {"new"}), judge=_judge)
def find(visit: Visit) -> Iterator[Finding]:
    """The call that makes the memory."""
    found = _exposure(visit.facts, visit.site) if makes_uninitialised(visit.facts, visit.site) else None
    if found is not None:
        values = {**found.values, "spelling": spelling_of(visit), "symbol": visit.symbol}
        yield replace(found, values=values, operators=_USES)


@check(codes=(_CODE,), triggers=Triggers(calls=MAKERS | TYPED), judge=judge_operators, is_open=True)
def left_open(visit: Visit) -> Iterator[Finding]:
    """A parameter whose class is not seen to give it values: `self.bias = nn.Parameter(torch.empty(8))`."""
    made = parameter_made(visit.facts, visit.site) if makes_uninitialised(visit.facts, visit.site) else None
    if made is not None and not is_filled_by_class(visit.facts, made):
        yield Finding(_CODE, visit.node, {"symbol": visit.symbol}, "open", operators=_USES)


def _exposure(facts: FileFacts, site: CallSite) -> Finding | None:
    """What a call that makes uninitialised memory exposes in its file.

    `name` is of the parameter, or of the function that returns the memory.
    """
    if is_beside_the_point(facts, site):
        return None
    parameter = parameter_made(facts, site)
    if parameter is not None:
        reading = reading_of(facts, parameter)
        if reading is None:
            return None
        doubt = Confidence.LOW if may_come_from_elsewhere(facts, parameter, site) else Confidence.MEDIUM
        name = f"self.{parameter.name}"
        return Finding(_CODE, site.node, {"name": name}, "parameter", confidence=doubt, related=((reading, _READ),))
    memory = Memory(facts, site.node)
    flow = follow(memory, Value(site.node))
    read = memory.exposed
    if not flow.is_whole or (read is None and memory.writes):
        return None
    if read is None:
        elsewhere = Finding(_CODE, site.node, {"name": ""}, exits=tuple(flow.exits))
        return _returned(facts, site, memory) or elsewhere
    # Unless it is kept, each call of a function that makes it makes memory anew: others have theirs.
    is_kept = any(isinstance(one.port, Field) for one in flow.exits)
    exits = [one for one in flow.exits if is_kept or one.port is not None]
    before = [one for one in exits if memory.reaches_before(one, read)]
    shown = follow(Memory(facts, site.node, read.node), Value(site.node))
    related = (*shown.trace, (read.node, _READ))
    return Finding(_CODE, site.node, {"name": ""}, related=related, exits=tuple(before))


def _returned(facts: FileFacts, site: CallSite, memory: Memory) -> Finding | None:
    """Memory that is neither read nor written here, and that `forward` gives to whoever calls it."""
    function = facts.function_of(site.scope)
    scope = facts.symbols.scopes[function or 0]
    is_returned = any(one.function == function and not one.value.path for one in memory.returned)
    if not is_returned or scope.name != "forward" or not is_module_class(facts, scope.parent):
        return None
    related = ((site.statement, "here it is returned"),)
    return Finding(_CODE, site.node, {"name": scope.name}, "output", related=related)
