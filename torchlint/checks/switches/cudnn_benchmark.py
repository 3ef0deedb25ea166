"""TL207 cudnn-benchmark: cuDNN picks its algorithms by a stopwatch."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator

from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.spelling import spelling_of
from torchlint.checks.framework.visit import Visit
from torchlint.checks.switches.cudnn_flags import BENCHMARK, contradicting
from torchlint.diagnostics import Severity
from torchlint.facts.control.conditions import tests_around
from torchlint.facts.entries import is_test
from torchlint.facts.tree import targets_of
from torchlint.facts.values import argument_of
from torchlint.project.index import Project

_CODE = "TL207"
_SWITCH = BENCHMARK
_NAMESPACE, _, _ATTRIBUTE = _SWITCH.rpartition(".")
_TRAINERS = frozenset({"lightning.pytorch.Trainer"})
_CHOICES = ("determin", "reproduc", "seed", "benchmark", "debug")
"""Words of an option under which `benchmark = True` is what somebody chose."""


def _judge(draft: Draft, project: Project) -> Draft:
    """A note in evaluation, demonstrations, speed tests and streams: no training drifts apart there."""
    is_training = not is_test(draft.path) and project.may_train((draft.path, draft.values["symbol"]))
    return draft if is_training else dataclasses.replace(draft, severity=Severity.INFO)


@check(
    codes=(_CODE,),
    triggers=Triggers(assigned=frozenset({_SWITCH}), calls=_TRAINERS | {"builtins.setattr"}),
    judge=_judge,
)
def find(visit: Visit) -> Iterator[Finding]:
    """The switch set to a literal True, unless an option about determinism chose it."""
    if not _turns_on(visit):
        return
    statement = visit.statement
    # Together with `deterministic` it is TL209.
    is_said = "TL209" in visit.selected and contradicting(visit.facts, statement) is not None
    if not is_said and not _is_an_option(visit, statement):
        values = {"spelling": spelling_of(visit, argument=_ATTRIBUTE)}
        values["symbol"] = visit.facts.symbol_at(visit.scope, statement)
        yield Finding(_CODE, visit.node, values, devices=("cuda",))


def _turns_on(visit: Visit) -> bool:
    if isinstance(visit.node, ast.Assign):
        assignment = visit.assignment
        names = [visit.names(target).only for target in targets_of(assignment) if isinstance(target, ast.Attribute)]
        return _SWITCH in names and _is_true(visit, assignment.value)
    function, call = visit.callee(), visit.call
    if function in _TRAINERS:
        return _is_true(visit, argument_of(call, "benchmark", None))
    return (
        function == "builtins.setattr"
        and len(call.args) == 3
        and visit.names(call.args[0]).only == _NAMESPACE
        and visit.value(call.args[1]).constants == (_ATTRIBUTE,)
        and _is_true(visit, call.args[2])
    )


def _is_true(visit: Visit, value: ast.expr | None) -> bool:
    known = visit.value(value)
    return known.complete and known.constants == (True,)


def _is_an_option(visit: Visit, statement: ast.stmt) -> bool:
    """Under an `if`, or in the `else`, of a test that speaks of determinism, benchmarking or a seed."""
    tests = [ast.unparse(test).lower() for test in tests_around(visit.facts, statement)]
    return any(word in test for test in tests for word in _CHOICES)
