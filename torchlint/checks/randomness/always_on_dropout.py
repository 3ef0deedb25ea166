"""TL309 always-on-dropout: functional dropout that nobody told of evaluation."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.visit import Visit, remarks_in, spelling_of
from torchlint.facts.classes import forward_of
from torchlint.facts.control.conditions import decisions, tests_around
from torchlint.facts.file import FileFacts
from torchlint.facts.scopes import BindingKind, Scope
from torchlint.facts.training.training_mode import DROPOUT_FUNCTIONS
from torchlint.facts.tree import words_in
from torchlint.facts.values import argument_of, may_be_hidden

_CODE = "TL309"
"""`training` is True by default; of the alpha variants it is False."""
_MODE = re.compile(r"train|eval|infer|test|predict|valid")
_OPTION = re.compile(r"use_|apply|enable|switch|mode|sampl|stochastic|determin|(?:^|_)(?:do|is|with|should|mc)_")
"""Words of a test that leaves the choice to somebody."""
_MEANT_BY_NAME = re.compile(
    r"monte|(?:^|[^a-z])mc(?:[^a-z]|d)|bayes|uncertain|variational|ensemble|stochastic|prenet|tacotron|"
    r"augment|nois[ey]|perturb|corrupt"
)
"""Words of classes and files whose dropout stays on by design: Monte Carlo, the pre-net of Tacotron, augmentation."""
_MEANT_BY_REMARK = re.compile(
    r"monte[ -]?carlo|\bmc[ _-]?dropout|bayes|uncertain|\balways\b|non[ -]?determin|stochastic|tacotron|"
    r"(?:at|during|in|for|while) (?:the )?(?:inference|evaluation|eval|test|validation|prediction)"
)


@check(codes=(_CODE,), triggers=Triggers(calls=DROPOUT_FUNCTIONS))
def find(visit: Visit) -> Iterator[Finding]:
    """Dropout in a module's `forward` without `training=`, where nothing else asks for the mode."""
    names, call = visit.names(visit.call.func), visit.call
    if names.only not in DROPOUT_FUNCTIONS or names.callees[0].partial:
        return
    if argument_of(call, "training", 2) is not None or may_be_hidden(call, 2):
        return
    forward = forward_of(visit.facts, visit.scope)
    if forward is None or _is_meant(visit.facts, forward):
        return
    if _is_chosen_by_rate(visit, forward):
        return
    rate, tests = argument_of(call, "p", 1), tests_around(visit.facts, call)
    # A test about the mode, or an option, lets it run.
    if any(_is_a_choice(test, rate) for test in tests):
        return
    if not any(_speaks(decision.test, _MODE) for decision, _ in decisions(visit.facts, visit.statement)):
        yield Finding(_CODE, visit.node, {"spelling": spelling_of(visit)})


def _is_meant(facts: FileFacts, forward: Scope) -> bool:
    """Whether names or remarks say that the dropout shall stay on."""
    owner = facts.symbols.scopes[forward.parent or 0]
    # `TacotronPreNet` and `mc_dropout/model.py`: the humps become underscores.
    path = "/".join(facts.path.split("/")[-2:])
    names = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", f"{owner.qualname} {path}").lower()
    if _MEANT_BY_NAME.search(names.replace("pre_net", "prenet")):
        return True
    if {"train", "eval"} & owner.bindings.keys():  # overridden to do more than set the mode
        return True
    return _MEANT_BY_REMARK.search(remarks_in(facts, owner.node)) is not None


def _is_chosen_by_rate(visit: Visit, forward: Scope) -> bool:
    """Whether the rate may be zero in evaluation: a choice, a parameter, a property, or set from outside."""
    rate = argument_of(visit.call, "p", 1)
    if rate is None:
        return False
    known = visit.value(rate)
    if known.is_known:
        return not all(known.constants)
    bindings = visit.facts.bindings(rate, visit.scope)
    if isinstance(rate, ast.Name) and visit.facts.variable(rate, visit.scope) == (forward.index, rate.id):
        if len(bindings) != 1 or bindings[0].kind is BindingKind.PARAMETER:
            return True
        if bindings[0].kind is BindingKind.ASSIGN and bindings[0].value is not None:
            rate = bindings[0].value
    if any(isinstance(inner, (ast.Call, ast.IfExp, ast.BoolOp)) for inner in ast.walk(rate)):
        return True
    return any(_is_set_elsewhere(visit.facts, word, forward) for word in words_in(rate)) or _speaks(rate, _MODE)


def _is_set_elsewhere(facts: FileFacts, attribute: str, forward: Scope) -> bool:
    """Whether a class has a property of this name, or a method other than its constructor sets it."""
    if attribute in facts.symbols.scopes[forward.parent or 0].bindings:
        return True
    for assignment in facts.symbols.assignments:
        is_of_class = facts.class_of(assignment.scope) == forward.parent
        is_set = isinstance(assignment.target, ast.Attribute) and assignment.target.attr == attribute
        if is_of_class and is_set and facts.function_name(assignment.scope) not in ("", "__init__", "setup"):
            return True
    return False


def _is_a_choice(test: ast.expr, rate: ast.expr | None) -> bool:
    """Whether a test may leave dropout out in evaluation; `self.p > 0` and `i < len(layers) - 1` do not."""
    if isinstance(test, ast.BoolOp):
        return any(_is_a_choice(part, rate) for part in test.values)
    if isinstance(test, ast.UnaryOp):
        return _is_a_choice(test.operand, rate)
    if _speaks(test, _MODE) or _speaks(test, _OPTION):
        return True
    if isinstance(test, ast.Compare):
        sides = (test.left, *test.comparators)
        return any(isinstance(side, ast.Constant) and isinstance(side.value, bool) for side in sides)
    if isinstance(test, ast.Call):
        return not (isinstance(test.func, ast.Name) and test.func.id == "isinstance")
    return rate is None or ast.dump(test) != ast.dump(rate)


def _speaks(expression: ast.expr, words: re.Pattern[str]) -> bool:
    return any(words.search(word.lower()) for word in words_in(expression))
