"""TL312 unseeded-environment: a program trains in an environment, or by random actions, that nothing seeds."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.visit import Visit, spelling_of
from torchlint.diagnostics import Related
from torchlint.facts.entries import is_beside_training
from torchlint.facts.randomness.environments import MAKERS, makes_environment, samples_actions
from torchlint.project.call_graph import is_reached
from torchlint.project.environments import ENVIRONMENTS, Environments
from torchlint.project.index import Project

_CODE = "TL312"


def _judge(draft: Draft, project: Project) -> Draft | None:
    """Whether all training programs that reach it leave it unseeded."""
    if is_beside_training(draft.path):
        return None
    programs = project.programs.reaching(draft.path)
    reaching = [one for one in programs if is_reached(draft.symbol, one.reached, project.summaries)]
    every = [(project.environments_of(program), program) for program in reaching]
    found = [one for one, program in every if one.is_trained or project.randomness_of(program).training]
    if not found or not all(_speaks(draft, environments) for environments in found):
        return None
    sampled = found[0].sampled
    if draft.message == "space" or not sampled:
        return draft
    return replace(draft, related=(Related(sampled[0].place.location, "samples the action space"),))


def _speaks(draft: Draft, environments: Environments) -> bool:
    """One cause, one finding: at the first environment, or, where that is seeded, at the first sample."""
    unseeded = environments.unseeded
    if draft.message == "default":
        return unseeded is not None and unseeded.place.location == draft.location
    is_first = bool(environments.sampled) and environments.sampled[0].place.location == draft.location
    return unseeded is None and is_first and bool(environments.made) and not environments.is_space_seeded


@check(
    codes=(_CODE,), triggers=Triggers(calls=MAKERS, methods=frozenset({"sample"})), judge=_judge, asks=(ENVIRONMENTS,)
)
def find(visit: Visit) -> Iterator[Finding]:
    """Environments that are made, and random actions."""
    if makes_environment(visit.facts, visit.site, visit.names(visit.call.func)):
        message = "default"
    elif samples_actions(visit.facts, visit.site):
        message = "space"
    else:
        return
    values = {"spelling": spelling_of(visit), "symbol": visit.symbol}
    yield Finding(_CODE, visit.node, values, message)
