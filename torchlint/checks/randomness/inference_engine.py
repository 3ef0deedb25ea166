"""TL506 inference-engine: a program keeps what an engine gave that schedules its batches as it goes."""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.catalogue.libraries import Fact, Library
from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.programs import is_demonstration
from torchlint.checks.framework.registration import Finding, ProgramFinding, Triggers, check, program_check
from torchlint.checks.framework.visit import Visit
from torchlint.checks.randomness.library_facts import certainty, is_settled
from torchlint.diagnostics import Confidence, Related, Severity
from torchlint.facts.entries import is_test
from torchlint.project.index import Project
from torchlint.project.placing import place_leading_to
from torchlint.project.programs import Program
from torchlint.project.randomness import SavedDraw

_CODE = "TL506"
_POSTING = frozenset({"requests.post", "httpx.post", "requests.Session().post", "httpx.Client().post"})


@program_check(_CODE)
def find(program: Program, project: Project) -> Iterator[ProgramFinding]:
    """The first results of an engine that the program saves."""
    for one in project.randomness_of(program).saved_of_engines:
        library, fact = _fact(one.draw.name, project)
        if is_demonstration(program, one.saved, project) or is_settled(project, fact):
            continue
        found = certainty(project, one.draw.path, library, fact)
        if found is not None and (project.has_torch or not fact.is_prepared):
            yield _finding(one, fact, program, project, confidence=found if found is Confidence.LOW else None)


def _fact(name: str, project: Project) -> tuple[Library, Fact]:
    found = ((library, fact) for library in project.catalogue.libraries for fact in library.fact)
    return next((library, fact) for library, fact in found if name in fact.gives)


def _finding(
    one: SavedDraw, fact: Fact, program: Program, project: Project, *, confidence: Confidence | None
) -> ProgramFinding:
    draw, saved = one.draw, one.saved
    values = {"call": f"`{draw.name}`", "saved": f"`{saved.name}`", "what": fact.what, "fix": fact.fix}
    place = place_leading_to((draw.path, draw.symbol), draw.place, program, project)
    related = (Related(draw.place.location, "the engine answers"), Related(saved.place.location, "saves it"))
    severity = Severity.INFO if fact.is_note else None
    return ProgramFinding(_CODE, place, values, severity=severity, confidence=confidence, related=related)


def _judge(draft: Draft, project: Project) -> Draft | None:
    """What a program sends while it trains decides what it trains on."""
    return draft if not is_test(draft.path) and project.may_train((draft.path, draft.values["symbol"])) else None


@check(codes=(_CODE,), triggers=Triggers(calls=_POSTING), judge=_judge, is_open=True)
def asked(visit: Visit) -> Iterator[Finding]:
    """A server that is asked for something: `requests.post(url, json=prompts)`."""
    yield Finding(_CODE, visit.node, {"symbol": visit.facts.symbol_at(visit.scope, visit.statement)})
