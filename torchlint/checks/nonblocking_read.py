"""TL502 nonblocking-read: a copy to the host that is read while it may still be on its way."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from torchlint.checks.registration import Finding, Vocabulary, check
from torchlint.checks.spelling import shortened, spelling_of
from torchlint.checks.visit import Visit
from torchlint.diagnostics import Confidence
from torchlint.facts.file import FileFacts
from torchlint.facts.host_copies.copies import METHODS
from torchlint.facts.host_copies.races import Race, races
from torchlint.facts.scopes import CallSite

_CODE = "TL502"


def _is_race(facts: FileFacts, site: CallSite, selected: frozenset[str]) -> bool:
    is_named = any(keyword.arg == "non_blocking" for keyword in site.node.keywords) or len(site.node.args) > 1
    return _CODE in selected and is_named and id(site.node) in facts.once(races)


@check(cst.Call, codes=(_CODE,), vocabulary=Vocabulary(methods=METHODS, worth=_is_race))
def find(visit: Visit) -> Iterator[Finding]:
    """The copy, with the place that reads it."""
    race = visit.facts.once(races).get(id(visit.call))
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
