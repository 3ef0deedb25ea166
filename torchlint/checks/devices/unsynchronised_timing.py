"""TL602 unsynchronised-timing: a clock that is read before the GPU has finished what it shall time."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.checks.devices.timing.timed_work import unsynchronised
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.visit import Visit
from torchlint.facts.file import FileFacts
from torchlint.facts.scopes import CallSite

_CODE = "TL602"


def _readings(facts: FileFacts) -> Iterator[CallSite]:
    return (timed.second for timed in facts.cached(unsynchronised).values())


@check(codes=(_CODE,), triggers=Triggers(sites=_readings))
def find(visit: Visit) -> Iterator[Finding]:
    """The second reading of a clock, where nothing waits for the work since the first."""
    timed = visit.facts.cached(unsynchronised).get(id(visit.call))
    if timed is not None:
        related = ((timed.first, "the clock is read first here"), (timed.work, "this is handed to the GPU"))
        yield Finding(_CODE, visit.node, {"clock": ast.unparse(visit.call)}, related=related, devices=("cuda",))
