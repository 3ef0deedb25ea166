"""TL208 cudnn-only-determinism and TL209 contradictory-switches: what cuDNN's flags do not do."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from msgspec.structs import replace

from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.spelling import spelling_of
from torchlint.checks.framework.visit import Visit
from torchlint.checks.switches.cudnn_flags import BENCHMARK, DETERMINISTIC, contradicting
from torchlint.diagnostics import Severity
from torchlint.facts.entries import is_demonstration, is_test
from torchlint.facts.modes import Mode
from torchlint.project.index import Project


def _judge(draft: Draft, project: Project) -> Draft | None:
    """TL208 where neither the file nor its programs turn the mode on, and TL210 does not say more of it."""
    if draft.code == "TL209":
        return _of_contradiction(draft, project)
    if is_test(draft.path) or project.turns_mode_on or project.mode_for(draft.path).mode is not Mode.OFF:
        return None
    if any(call.mode is not Mode.OFF for call in project.summaries[draft.path].modes):
        return None  # under a condition, beside the flag
    programs = [one for one in project.programs.reaching(draft.path) if project.has_mode(one.path)]
    seeded = [project.randomness_of(program) for program in programs if project.leaves_mode_off(program)]
    speaks = {"TL210", "TL213"} & project.settings.selected
    return None if speaks and any(one.training and one.seeds for one in seeded) else draft


def _of_contradiction(draft: Draft, project: Project) -> Draft:
    """A note where nothing trains, in demonstrations and what only evaluates: a trained model hardly shows it."""
    is_shown = is_demonstration(draft.path) or project.has_training
    is_note = is_shown and not project.may_train((draft.path, draft.values["symbol"]))
    return replace(draft, severity=Severity.INFO) if is_note else draft


@check(
    codes=("TL208", "TL209"),
    triggers=Triggers(assigned=frozenset({BENCHMARK, DETERMINISTIC})),
    judge=_judge,
)
def find(visit: Visit) -> Iterator[Finding]:
    """Flags that are on together, and one that is all that asks for equal runs."""
    assignment = visit.assignment
    targets = assignment.targets if isinstance(assignment, ast.Assign) else []
    names = {visit.names(target).only for target in targets if isinstance(target, ast.Attribute)}
    if BENCHMARK in names:
        other = contradicting(visit.facts, assignment)
        if other is not None:
            related = ((other.statement, "`deterministic` is turned on here"),)
            values = {"spelling": spelling_of(visit)}
            values["symbol"] = visit.facts.symbol_at(visit.scope, assignment)
            yield Finding("TL209", visit.node, values, related=related, devices=("cuda",))
    if DETERMINISTIC in names and visit.value(assignment.value).constants == (True,):
        yield Finding("TL208", visit.node, {"spelling": spelling_of(visit)}, devices=("cuda",))
