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
from torchlint.facts.control.blocks import block_of
from torchlint.facts.control.order import between, position_of
from torchlint.facts.entries import is_demonstration, is_test
from torchlint.facts.modes import Mode, mode_call
from torchlint.facts.scopes import CallSite
from torchlint.project.index import Project

_MODE = "torch.use_deterministic_algorithms"
_SETTINGS = (ast.Assign, ast.AnnAssign, ast.Import, ast.ImportFrom, ast.Pass)
"""Statements that change settings and run nothing between two of them."""


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
    triggers=Triggers(assigned=frozenset({BENCHMARK, DETERMINISTIC}), calls=frozenset({_MODE})),
    judge=_judge,
)
def find(visit: Visit) -> Iterator[Finding]:
    """Flags that are on together, and the mode switched on and off with nothing between."""
    if isinstance(visit.node, ast.Call):
        if visit.callee() == _MODE:
            yield from _of_mode(visit)
        return
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


def _of_mode(visit: Visit) -> Iterator[Finding]:
    """The call that turns the mode off, where only settings stand between it and the call that turned it on."""
    switches = {switch.call: switch for switch in visit.catalogue.programs.mode}
    own = mode_call(visit.facts, visit.site, switches)
    if own is None or own.mode is not Mode.OFF:
        return
    before = [site for site in visit.facts.symbols.calls if _is_mode_call_in_block(visit, site)]
    earlier = [site for site in before if position_of(site.node) < position_of(visit.call)]
    if not earlier or len(before) != len(earlier) + 1:
        return
    last = mode_call(visit.facts, earlier[-1], switches)
    if last is not None and last.mode in (Mode.ON, Mode.WARN_ONLY) and _only_settings(visit, earlier[-1].statement):
        related = ((earlier[-1].node, "turned on here"),)
        values = {"spelling": spelling_of(visit), "symbol": visit.facts.symbol_of(visit.site)}
        yield Finding("TL209", visit.node, values, "mode", related=related)


def _is_mode_call_in_block(visit: Visit, site: CallSite) -> bool:
    block = block_of(visit.facts, visit.statement)
    return site.statement in block and visit.facts.names(site.node.func, site.scope).only == _MODE


def _only_settings(visit: Visit, first: ast.stmt) -> bool:
    passed = between(visit.facts, first, visit.statement) or ()
    return all(_is_setting(statement) or _seeds(statement) for statement in passed)


def _is_setting(statement: ast.stmt) -> bool:
    return isinstance(statement, _SETTINGS) and not any(isinstance(node, ast.Call) for node in ast.walk(statement))


def _seeds(statement: ast.stmt) -> bool:
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and "seed" in ast.unparse(call.func)
