"""TL314 never-eval: loaded weights predict with dropout, or batch statistics, still in training mode."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.visit import Visit
from torchlint.checks.training.predictions import PRETRAINED, prediction_after
from torchlint.facts.entries import is_test
from torchlint.facts.full_names import public_name
from torchlint.facts.training.training_mode import LOADERS
from torchlint.facts.words import says
from torchlint.project.call_graph import is_reached
from torchlint.project.index import Project
from torchlint.project.training_mode import sets_modes_beside, stays_in_training_mode, varying_layer

_CODE = "TL314"


def _judge(draft: Draft, project: Project) -> Draft | None:
    """Whether the model varies in training mode, and no program that reaches it leaves that mode."""
    if is_test(draft.path) or says(draft.path, "measurement", "trial", "translation"):
        return None
    layer = varying_layer(draft.values["model"], project.summaries)
    if layer is None or (draft.values["is_global"] and sets_modes_beside(draft.path, project.summaries)):
        return None
    symbol = (draft.path, draft.values["symbol"])
    starts = [
        program.reached
        for program in project.programs.reaching(draft.path)
        if is_reached(symbol, program.reached, project.summaries)
    ]
    calls = project.programs.calls
    if not symbol[1]:  # what stands at the top of a script runs, whatever else the project starts
        starts.append(calls.reached([symbol]))
    if not starts or not all(stays_in_training_mode(one, calls, project.summaries) for one in starts):
        return None
    noise = "drops values at random" if "ropout" in layer else "normalises by each batch"
    values = {**draft.values, "layer": layer, "noise": noise, "model": public_name(draft.values["model"])}
    return replace(draft, values=values)


@check(codes=(_CODE,), triggers=Triggers(calls=PRETRAINED, methods=LOADERS), judge=_judge)
def find(visit: Visit) -> Iterator[Finding]:
    """Weights that are loaded into a model which then predicts."""
    found = prediction_after(visit.facts, visit.site)
    if found is not None:
        values = {
            "name": found.name,
            "model": found.model,
            "symbol": visit.facts.symbol_of(visit.site),
            "is_global": "yes" if found.is_global else "",
        }
        yield Finding(_CODE, visit.node, values, related=((found.call, "predicts here"),))
