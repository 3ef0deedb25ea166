"""TL208 cudnn-only-determinism and TL209 contradictory-switches: what cuDNN's flags do not do."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.spelling import spelling_of
from torchlint.checks.framework.visit import Visit
from torchlint.diagnostics import Severity
from torchlint.facts.control.order import dominates
from torchlint.facts.entries import is_demonstration, is_test
from torchlint.facts.modes import Mode
from torchlint.project.index import Project

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

BENCHMARK = "torch.backends.cudnn.benchmark"
DETERMINISTIC = "torch.backends.cudnn.deterministic"


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


class _FlagWrite(msgspec.Struct, frozen=True):
    """One assignment to a flag; `value` is None when it is no literal."""

    name: str
    value: bool | None
    statement: ast.stmt
    function: int | None


def _flag_writes(facts: FileFacts) -> list[_FlagWrite]:
    """All assignments to the two flags, in source order."""
    found = []
    for assignment in facts.symbols.assignments:
        target = assignment.target
        if not isinstance(target, ast.Attribute) or target.attr not in ("benchmark", "deterministic"):
            continue
        name = facts.names(target, assignment.scope).only
        if name in (BENCHMARK, DETERMINISTIC):
            known = facts.value(assignment.value, assignment.scope).only(bool)
            found.append(_FlagWrite(name, known, assignment.statement, facts.function_of(assignment.scope)))
    return found


def contradicting(facts: FileFacts, statement: ast.stmt) -> _FlagWrite | None:
    """For the statement that turns `benchmark` on: the write that has `deterministic` on at the same time.

    Both stand in one function, one of them in a block that holds the other, and neither is written again there.
    """
    writes = facts.cached(_flag_writes)
    own = next((w for w in writes if w.statement is statement and w.name == BENCHMARK and w.value is True), None)
    if own is None:
        return None
    here = [write for write in writes if write.function == own.function]
    others = [write for write in here if write.name == DETERMINISTIC]
    if len(others) != 1 or sum(write.name == BENCHMARK for write in here) != 1 or others[0].value is not True:
        return None
    other = others[0].statement
    is_one_path = statement is other or dominates(facts, statement, other) or dominates(facts, other, statement)
    return others[0] if is_one_path else None
