"""TL313 partial-checkpoint: a training that can be resumed, but not where it stopped."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Iterator

from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.spelling import spelling_of
from torchlint.checks.framework.visit import Visit
from torchlint.checks.training.checkpoints import (
    keeps_optimizer,
    names_optimizer,
    restored_optimizers,
    resumptions,
    saved_models,
    steps_with_state,
)
from torchlint.diagnostics import Related
from torchlint.facts.entries import is_test
from torchlint.facts.places import Place
from torchlint.facts.scopes import CallSite
from torchlint.facts.values import argument_of
from torchlint.project.index import Project
from torchlint.project.placing import place_leading_to

_CODE = "TL313"
_MOST_SHOWN = 8
"""Programs that a finding lists."""
_GENERATORS = "generators"
_BEST = re.compile(r"best|final|weights|export|pretrain|ema", re.IGNORECASE)
"""Said of files that hold a result, not a state to go on from."""


def _judge(draft: Draft, project: Project) -> Draft | None:
    if is_test(draft.path) or (draft.message == _GENERATORS and project.restores_generators):
        return None
    return dataclasses.replace(draft, related=(*draft.related, *_programs(draft, project)))


def _programs(draft: Draft, project: Project) -> list[Related]:
    """The calls by which programs of other files that train lead to the function that loads."""
    target, place = (draft.path, draft.values["symbol"]), Place(draft.location, draft.source_line, draft.lines)
    others = (one for one in project.programs.reaching(draft.path) if target in one.reached and one.path != draft.path)
    programs = [one for one in others if project.randomness_of(one).training is not None]
    calls = {place_leading_to(target, place, one, project).location: None for one in programs}
    return [Related(call, "training is resumed here") for call in list(calls)[:_MOST_SHOWN]]


@check(codes=(_CODE,), triggers=Triggers(calls=frozenset({"torch.save"})), judge=_judge)
def find(visit: Visit) -> Iterator[Finding]:
    """`torch.save` of a model's state alone, in a file that resumes training from such states."""
    facts = visit.facts
    given = argument_of(visit.call, "obj", 0) if visit.callee() == "torch.save" else None
    if given is None or not steps_with_state(facts) or facts.once(keeps_optimizer):
        return
    models = saved_models(facts, given, visit.scope)
    if not models or any(names_optimizer(facts, model, visit.scope) for model in models):
        return
    target = argument_of(visit.call, "f", 1)
    if target is not None and _BEST.search(ast.unparse(target)):
        return
    own = facts.class_of(visit.scope)
    resumed = next((site for site in resumptions(facts) if facts.class_of(site.scope) == own), None)
    if resumed is not None:
        related = ((resumed.node, "training is resumed here"),)
        yield Finding(_CODE, visit.node, _values(visit, resumed), related=related)


@check(
    codes=(_CODE,),
    triggers=Triggers(methods=frozenset({"load_state_dict"})),
    judge=_judge,
)
def resumed(visit: Visit) -> Iterator[Finding]:
    """The first optimizer that goes on from a file, in a project that restores no generator."""
    if visit.facts.once(restored_optimizers)[:1] == [visit.site]:
        yield Finding(_CODE, visit.node, _values(visit, visit.site), message=_GENERATORS)


def _values(visit: Visit, resumed: CallSite) -> dict[str, str]:
    """What a finding says, and the function that goes on with a training, for the project."""
    return {"spelling": spelling_of(visit), "symbol": visit.facts.symbol_of(resumed)}
