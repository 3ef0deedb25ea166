"""TL207, TL208 and TL209: what cuDNN's flags do, what they do not, and where they contradict each other."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from torchlint.checks.framework.asking import constants_of
from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.visit import Visit, spelling_of
from torchlint.diagnostics import Severity
from torchlint.facts.calls import callers
from torchlint.facts.constants import value_of
from torchlint.facts.context_operators import CONTEXT
from torchlint.facts.control.conditions import tests_around
from torchlint.facts.control.order import dominates
from torchlint.facts.definitions import definitions_of
from torchlint.facts.entries import is_demonstration, is_measuring, is_test
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.values import EVERYWHERE, Parameter
from torchlint.facts.modes import Mode
from torchlint.facts.notation import Symbol
from torchlint.facts.origins import Origin, beyond
from torchlint.facts.tree import targets_of
from torchlint.facts.values import Values, argument_of
from torchlint.project.index import Project
from torchlint.project.options import keeps_from_running

BENCHMARK = "torch.backends.cudnn.benchmark"
DETERMINISTIC = "torch.backends.cudnn.deterministic"
_NAMESPACE, _, _ATTRIBUTE = BENCHMARK.rpartition(".")
_TRAINERS = frozenset({"lightning.pytorch.Trainer"})
_CONVOLUTION = "convolution"
_WITH_MODELS = frozenset({"torchaudio", "torchmetrics", "torchtext"})
"""Those of the registry's plain libraries that hold models of their own; torchvision's models are an entry there."""
_OPAQUE = ("torch.hub.load", "torch.jit.load", "torch.export.load", "torch.utils.cpp_extension.load")
"""What gives a model that nobody sees."""
_SPOKEN = re.compile(rb"\bConv(?!er|en)")
"""A layer that is picked by its name: `getattr(nn, f"Conv{dimensions}d")`."""
_CHOICES = ("determin", "reproduc", "seed", "benchmark", "debug")
"""Words of an option under which `benchmark = True` is what somebody chose."""


def _judge_benchmark(draft: Draft, project: Project) -> Draft | None:
    """A note in evaluation, demonstrations, speed tests and streams: no training drifts apart there."""
    known = [values for origin in draft.origins for values in constants_of(origin, project)]
    if draft.origins and not (known and all(map(_is_on, known))):
        return None
    # Where no convolution is loaded, cuDNN times nothing; a library that may hold models leaves that open.
    programs = project.programs.reaching(draft.path)
    loaded = project.programs.calls.loaded(file for program in programs for file in program.files)
    summaries = [project.summaries[file] for file in loaded & project.summaries.keys()]
    plain = {*project.catalogue.devices.plain_libraries, *sys.stdlib_module_names} - _WITH_MODELS
    is_plain = all(summary.libraries <= plain for summary in summaries) and not project.texts.call(_OPAQUE)
    is_lacking = all(one.operator != _CONVOLUTION for file in summaries for one in CONTEXT.of(file))
    if programs and is_plain and is_lacking and not project.texts.count_of(_SPOKEN):
        return None
    is_beside = is_test(draft.path) or is_measuring(draft.path)
    may_train = not is_beside and project.may_train(draft.symbol)
    is_training = may_train and not _is_kept_from_training(draft.symbol, project)
    return draft if is_training else replace(draft, severity=Severity.INFO)


def _is_kept_from_training(place: Symbol, project: Project) -> bool:
    """Whether a file's own program does not train, and others that do would run the line only by some option."""
    running = [one for one in project.programs.reaching(place[0]) if place in one.reached]
    training = [one for one in running if project.is_training(one)]
    is_own = any(one.path == place[0] for one in running) and all(one.path != place[0] for one in training)
    return is_own and all(keeps_from_running((), place, one, project) is not None for one in training)


@check(
    codes=("TL207",),
    triggers=Triggers(assigned=frozenset({BENCHMARK}), calls=_TRAINERS | {"builtins.setattr"}),
    judge=_judge_benchmark,
    asks=(CONTEXT,),
)
def benchmark(visit: Visit) -> Iterator[Finding]:
    """The switch set to True, here or by what another file says, unless an option about determinism chose it."""
    is_on = _turns_on(visit)
    # Together with `deterministic` it is TL209.
    is_said = is_on and "TL209" in visit.selected and contradicting(visit.facts, visit.statement) is not None
    # Under an `if`, or in the `else`, of a test that speaks of determinism, benchmarking or a seed it is an option.
    tests = (ast.unparse(test).lower() for test in tests_around(visit.facts, visit.statement))
    is_seen = is_on and not any(word in test for test in tests for word in _CHOICES)
    origins = _origins(visit) if isinstance(visit.node, ast.Assign) and not is_seen else ()
    if not is_said and (is_seen or origins):
        values = {"spelling": spelling_of(visit, argument=_ATTRIBUTE), "symbol": visit.symbol}
        yield Finding("TL207", visit.node, values, devices=("cuda",), origins=origins)


def _origins(visit: Visit) -> tuple[Origin, ...]:
    """Where other files have the value, if none of it is of here; of a parameter, what calls here give counts."""
    value = visit.assignment.value
    found = () if value is None else definitions_of(visit.facts, value, visit.scope, EVERYWHERE)
    ends = [one for one in found if not (isinstance(one, Parameter) and callers(visit.facts, one.function))]
    origins = tuple(beyond(visit.facts, one) for one in ends)
    return () if None in origins else origins  # type: ignore[return-value]


def _turns_on(visit: Visit) -> bool:
    if isinstance(visit.node, ast.Assign):
        assignment = visit.assignment
        names = [visit.names(target).only for target in targets_of(assignment) if isinstance(target, ast.Attribute)]
        return BENCHMARK in names and _is_true(visit, assignment.value)
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
    is_kept = isinstance(value, ast.Attribute)
    return _is_on(value_of(visit.facts, value, visit.scope, EVERYWHERE) if is_kept else visit.value(value))


def _is_on(known: Values | None) -> bool:
    return known is not None and known.complete and known.constants == (True,)


def _judge(draft: Draft, project: Project) -> Draft | None:
    """TL208 where neither the file nor its programs turn the mode on, and TL210 does not say more of it."""
    if draft.code == "TL209":
        # A trained model hardly shows it.
        is_shown = is_demonstration(draft.path) or project.has_training
        is_note = is_shown and not project.may_train(draft.symbol)
        return replace(draft, severity=Severity.INFO) if is_note else draft
    if is_test(draft.path) or project.turns_mode_on or project.mode_for(draft.path).mode is not Mode.OFF:
        return None
    if any(call.mode is not Mode.OFF for call in project.summaries[draft.path].modes):
        return None  # under a condition, beside the flag
    programs = [one for one in project.programs.reaching(draft.path) if project.has_mode(one.path)]
    seeded = [project.randomness_of(program) for program in programs if project.leaves_mode_off(program)]
    speaks = {"TL210", "TL213"} & project.settings.selected
    return None if speaks and any(one.training and one.seeds for one in seeded) else draft


@check(codes=("TL208", "TL209"), triggers=Triggers(assigned=frozenset({BENCHMARK, DETERMINISTIC})), judge=_judge)
def find(visit: Visit) -> Iterator[Finding]:
    """Flags that are on together, and one that is all that asks for equal runs."""
    assignment = visit.assignment
    targets = assignment.targets if isinstance(assignment, ast.Assign) else []
    names = {visit.names(target).only for target in targets if isinstance(target, ast.Attribute)}
    if BENCHMARK in names:
        other = contradicting(visit.facts, assignment)
        if other is not None:
            related = ((other.statement, "`deterministic` is turned on here"),)
            values = {"spelling": spelling_of(visit), "symbol": visit.symbol}
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
