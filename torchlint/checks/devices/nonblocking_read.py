"""TL502 nonblocking-read: a copy to the host that is read while it may still be on its way."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from msgspec.structs import replace

from torchlint.checks.devices.host_copies.copies import METHODS, is_copy_to_host
from torchlint.checks.devices.host_copies.reading import HostCopy
from torchlint.checks.devices.host_copies.waits import Wait
from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.spelling import shortened, spelling_of
from torchlint.checks.framework.visit import Visit
from torchlint.diagnostics import Confidence, Related
from torchlint.facts.flow.tracker import follow
from torchlint.facts.flow.values import Kept, Move, Value
from torchlint.project.index import Project

_CODE = "TL502"
_READ = "here its values are read"


def _judge(draft: Draft, project: Project) -> Draft | None:
    """Another file may read the copy."""
    if draft.values["reading"]:
        return draft
    sink = project.flows.sink_of(draft.exits, HostCopy)
    if sink is None:
        return None
    related = (*sink.trace, Related(sink.location, _READ))
    return replace(draft, values={**draft.values, "reading": shortened(sink.what)}, related=related)


@check(codes=(_CODE,), triggers=Triggers(methods=METHODS), judge=_judge)
def find(visit: Visit) -> Iterator[Finding]:
    """The copy, with the place that reads it."""
    call = visit.call
    is_named = any(keyword.arg == "non_blocking" for keyword in call.keywords) or len(call.args) > 1
    if not is_named or not is_copy_to_host(visit.facts, visit.site):
        return
    flow, confidence = follow(HostCopy(visit.facts), *_starts(call)), None
    if flow.sink is None:  # unless one of the calls on its way waits, of which that is not known
        doubtful = follow(HostCopy(visit.facts, Wait.YES), *_starts(call))
        flow, confidence = (doubtful, Confidence.LOW) if doubtful.sink is not None else (flow, None)
    if flow.sink is None:
        if flow.exits:
            yield Finding(_CODE, visit.node, {"spelling": spelling_of(visit), "reading": ""}, exits=tuple(flow.exits))
        return
    is_direct = visit.facts.index.statement_of(flow.sink.node) is visit.statement
    values = {"spelling": spelling_of(visit), "reading": shortened(flow.sink.what)}
    yield Finding(
        _CODE,
        visit.node,
        values,
        "direct" if is_direct else "default",
        confidence=Confidence.HIGH if is_direct else confidence,
        related=(*flow.trace, (flow.sink.node, _READ)),
    )


def _starts(call: ast.Call) -> Iterator[Move]:
    """What holds the copy: the result of the call, and the tensor that `copy_` changes."""
    yield Value(call)
    target = call.func
    assert isinstance(target, ast.Attribute)
    if target.attr == "copy_":
        holder = target.value
        while isinstance(holder, ast.Subscript):
            holder = holder.value
        yield Kept(holder, Value(call), in_place=True)
