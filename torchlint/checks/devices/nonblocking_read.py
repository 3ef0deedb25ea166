"""TL502 nonblocking-read: a copy to the host that is read while it may still be on its way."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.checks.devices.host_copies.copies import METHODS
from torchlint.checks.devices.host_copies.races import Race, races
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.spelling import shortened, spelling_of
from torchlint.checks.framework.visit import Visit
from torchlint.diagnostics import Confidence

_CODE = "TL502"


@check(codes=(_CODE,), triggers=Triggers(methods=METHODS))
def find(visit: Visit) -> Iterator[Finding]:
    """The copy, with the place that reads it."""
    call = visit.call
    is_named = any(keyword.arg == "non_blocking" for keyword in call.keywords) or len(call.args) > 1
    race = visit.facts.once(races).get(id(call)) if is_named else None
    if race is not None:
        values = {"spelling": spelling_of(visit), "reading": shortened(ast.unparse(race.reading))}
        yield Finding(
            _CODE,
            visit.node,
            values,
            "direct" if race.is_direct else "default",
            confidence=_confidence(race),
            related=((race.reading, "here its values are read"),),
        )


def _confidence(race: Race) -> Confidence | None:
    if race.may_wait:
        return Confidence.LOW
    return Confidence.HIGH if race.is_direct else None
