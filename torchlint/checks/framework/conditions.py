"""Whether the arguments of a call meet the conditions of a pattern or an operator's spelling."""

from __future__ import annotations

import ast
import enum
import re
from collections.abc import Iterable, Sequence

import msgspec

from torchlint.catalogue.detection import Condition
from torchlint.catalogue.values import Kind
from torchlint.checks.framework.drafts import Asked, GivenByCalls
from torchlint.facts.calls import called_at, callers
from torchlint.facts.constants import display_of, entry_value, usual_values
from torchlint.facts.control.conditions import conditions_on
from torchlint.facts.definitions import definitions_of, only_end
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.values import Parameter, Through
from torchlint.facts.full_names import UNKNOWN, Callee
from torchlint.facts.options.configurations import ConfiguredValue
from torchlint.facts.origins import Origin, beyond
from torchlint.facts.tensors.elements import element_of, is_sparse
from torchlint.facts.tensors.kinds import kind_of
from torchlint.facts.tree import is_literal_none
from torchlint.facts.values import Constant, Values, argument_of, may_be_hidden, same_constant


class Answer(enum.IntEnum):
    """NO also covers what cannot be known: an unknown argument never raises a finding."""

    NO = 0
    MAYBE = 1
    """Some of the values the argument may have meet the condition."""
    LIKELY = 2
    """The argument is a parameter, and what it is unless a caller says otherwise meets it, or what a caller says."""
    YES = 3


def holds(facts: FileFacts, call: ast.Call, callee: Callee, conditions: Iterable[Condition], scope: int) -> Answer:
    """Whether all conditions hold for this call, through the `functools.partial` calls around the callee."""
    return min((_one(facts, call, callee, condition, scope) for condition in conditions), default=Answer.YES)


def is_ruled_out(facts: FileFacts, call: ast.Call, callee: Callee, conditions: Iterable[Condition], scope: int) -> bool:
    """Whether the code shows that some condition does not hold: `mode="nearest"` where a mode of others is asked for.

    `holds` says NO of an argument that is unknown, too.
    """
    return any(_is_unmet(facts, call, callee, one, scope) for one in conditions)


def deciding(
    facts: FileFacts, call: ast.Call, callee: Callee, conditions: Iterable[Condition], scope: int
) -> tuple[Condition, ast.expr] | None:
    """The first condition on constants that is neither met nor unmet, and what is given: `self.mode`, `**options`."""
    spread = next((one.value for one in call.keywords if one.arg is None), None)
    for one in conditions:
        given = (_given(call, callee, one)[0] or spread) if one.is_of_constants else None
        is_open = given is not None and not _is_unmet(facts, call, callee, one, scope)
        if given is not None and is_open and _one(facts, call, callee, one, scope) is not Answer.YES:
            return one, given
    return None


def _is_unmet(facts: FileFacts, call: ast.Call, callee: Callee, condition: Condition, scope: int) -> bool:
    if _one(facts, call, callee, condition, scope) is not Answer.NO:
        return False
    given, hidden = _given(call, callee, condition)
    if not condition.is_of_constants:
        return not hidden or given is not None
    values = _values(facts, call, condition, given, scope)
    if values is not None:
        return values.is_known and not any(meets(one, condition) for one in values.constants)
    return not hidden


def holds_by_default(
    facts: FileFacts, call: ast.Call, callee: Callee, conditions: Iterable[Condition], scope: int
) -> Answer:
    """The same, where parameters count for what they are unless a caller says otherwise, or what callers say."""
    answers = []
    for condition in conditions:
        answer = _one(facts, call, callee, condition, scope)
        if answer < Answer.LIKELY and condition.is_of_constants:
            given, _ = _given(call, callee, condition)
            usual = () if given is None else usual_values(facts, given, scope)
            # One that only some branch writes out stays a maybe: which branch runs is not known.
            written = facts.value(given, scope).constants if answer is Answer.MAYBE else ()
            told = (one for one in usual if one not in written)
            is_met = any(meets(one, condition) and _is_left(facts, call, given, one) for one in told)  # type: ignore[arg-type]
            answer = Answer.LIKELY if is_met else answer
        answers.append(answer)
    return min(answers, default=Answer.YES)


def _is_left(facts: FileFacts, call: ast.Call, given: ast.expr, constant: Constant) -> bool:
    """Whether an argument may be this where the call stands: below `if mode != "reflect": return` nothing else may."""
    tests = conditions_on(facts, facts.index.statement_of(call))
    is_it = f"{ast.unparse(given)} == "
    return all((test == is_it + repr(constant)) == answer for test, answer in tests.items() if test.startswith(is_it))


def asked_elsewhere(
    facts: FileFacts, call: ast.Call, callee: Callee, conditions: Sequence[Condition], scope: int
) -> Asked | None:
    """What calls in other files, or a configuration, must give for all conditions to hold."""
    open_ones = [one for one in conditions if _one(facts, call, callee, one, scope) is not Answer.YES]
    condition = open_ones[0] if len(open_ones) == 1 else None
    given = None if condition is None else _given(call, callee, condition)[0]
    if condition is None or given is None or not condition.is_of_constants:
        return None
    if condition.equals and not any(_is_left(facts, call, given, one) for one in condition.equals):
        return None
    keys = tuple(condition.argument.split(".")[1:])
    if not keys:
        source = _source(facts, given, scope)
        return None if source is None else Asked(source, condition)
    # The entry of a configuration that a library loads from a file of this name.
    path = facts.value(given, scope).text
    return None if path is None else Asked(ConfiguredValue((path,), keys), condition)


def _source(facts: FileFacts, given: ast.expr, scope: int) -> GivenByCalls | Origin | None:
    """Where a value comes from that the file does not show."""
    only = only_end(facts, given, scope, Through.NOTHING)
    if only is None or (isinstance(only, Parameter) and callers(facts, only.function)):
        only = _only_given(facts, given, scope) or only
    if isinstance(only, Parameter):
        function = facts.symbols.scopes[only.function]
        symbol = function.qualname.removesuffix(".__init__")
        return GivenByCalls(symbol, only.name, called_at(facts, function, only.name))
    return beyond(facts, only_end(facts, given, scope, Through.RESULTS | Through.CONTENTS))


def _only_given(facts: FileFacts, given: ast.expr, scope: int) -> Parameter | None:
    """The one parameter that other files give, behind functions here that hand it on and what branches write."""
    ends = definitions_of(facts, given, scope, Through.PARAMETERS)
    open_ones = {one for one in ends if isinstance(one, Parameter) and not callers(facts, one.function)}
    is_seen = all(isinstance(one, Parameter) or isinstance(getattr(one, "node", None), ast.Constant) for one in ends)
    only = open_ones.pop() if len(open_ones) == 1 and is_seen else None
    return only if only is not None and not only.parts else None


def is_always_met(
    facts: FileFacts, call: ast.Call, callee: Callee, alternatives: Sequence[Sequence[Condition]], scope: int
) -> bool:
    """Whether one of several lists of conditions is met, whichever of its values an argument has.

    `interpolate(x, mode="bilinear" if flat else "trilinear")` is one of two operators, and each time one that varies.
    """
    conditions = [condition for conditions in alternatives for condition in conditions]
    chosen = {one.argument: facts.value(_given(call, callee, one)[0], scope) for one in conditions}
    chosen = {argument: values for argument, values in chosen.items() if len(values.constants) > 1}
    if len(chosen) != 1 or not all(values.complete for values in chosen.values()):
        return False
    argument, values = chosen.popitem()
    fitting = [
        [one for one in conditions if one.argument == argument]
        for conditions in alternatives
        if holds(facts, call, callee, [one for one in conditions if one.argument != argument], scope) is Answer.YES
    ]
    return all(any(all(meets(value, one) for one in own) for own in fitting) for value in values.constants)


def _one(facts: FileFacts, call: ast.Call, callee: Callee, condition: Condition, scope: int) -> Answer:
    given, hidden = _given(call, callee, condition)
    if condition.given is not None:
        if hidden and given is None:
            return Answer.NO
        given = None if is_literal_none(given) else given
        return Answer.YES if (given is not None) == condition.given else Answer.NO
    if condition.excludes is not None or condition.length is not None:
        return _narrowed(facts, call, given, condition, scope, hidden=hidden)
    if condition.element is not None:
        element = None if given is None else element_of(facts, given, scope)
        return Answer.YES if element in (None, condition.element) else Answer.NO
    if condition.kind is not None:
        return _is_tensor(facts, given, condition.kind, scope, hidden=hidden)
    if condition.not_named is not None or condition.named is not None:
        return _names_fit(facts, given, condition, scope)
    if condition.not_all is not None and given is not None:
        return _differs(facts, given, condition.not_all, scope)
    values = _values(facts, call, condition, given, scope)
    if values is not None:
        return _test(values, condition)
    if hidden or condition.default is msgspec.UNSET:
        return Answer.NO
    return _test(Values((condition.default,), complete=True), condition)


def _values(
    facts: FileFacts, call: ast.Call, condition: Condition, given: ast.expr | None, scope: int
) -> Values | None:
    """What an argument may be, or the entry of one (`options.mode`); also in a `**mapping` that the file shows."""
    name, *keys = condition.argument.split(".")
    if given is not None:
        return entry_value(facts, given, keys, scope) if keys else facts.value(given, scope)
    spread = (keyword.value for keyword in call.keywords if keyword.arg is None)
    shown = (entry_value(facts, mapping, (name, *keys), scope) for mapping in spread)
    return next((values for values in shown if values.constants), None)


def _narrowed(
    facts: FileFacts, call: ast.Call, given: ast.expr | None, condition: Condition, scope: int, *, hidden: bool
) -> Answer:
    """The conditions that an argument passes unless it is known to be otherwise."""
    if condition.length is not None:
        known = isinstance(given, (ast.Tuple, ast.List)) and not any(isinstance(e, ast.Starred) for e in given.elts)
        return Answer.YES if not known or len(given.elts) == condition.length else Answer.NO  # type: ignore[union-attr]
    values = _values(facts, call, condition, given, scope)
    if values is not None:
        is_unwanted = values.is_known and set(values.constants) <= set(condition.excludes or ())
    else:
        is_unwanted = not hidden and condition.default in (condition.excludes or ())
    return Answer.NO if is_unwanted else Answer.YES


def _is_tensor(facts: FileFacts, given: ast.expr | None, wanted: str, scope: int, *, hidden: bool) -> Answer:
    if wanted == "sparse":
        return Answer.YES if is_sparse(facts, given, scope) else Answer.NO
    if given is None:
        return Answer.MAYBE if hidden else Answer.NO
    kind = kind_of(facts, given, scope)
    if kind is Kind.TENSOR:
        return Answer.YES
    return Answer.MAYBE if kind is Kind.UNKNOWN else Answer.NO


def _names_fit(facts: FileFacts, given: ast.expr | None, condition: Condition, scope: int) -> Answer:
    """Whether an argument is what it must be called, or none of the unwanted; a choice of both is not certain."""
    if condition.named is not None:
        parts, scope = display_of(facts, given, scope) if given is not None else (None, scope)
        listed = parts.elts if isinstance(parts, (ast.Tuple, ast.List)) else [parts]
        is_one = all(part is not None and facts.names(part, scope).only in condition.named for part in listed)
        return Answer.YES if is_one and listed else Answer.NO
    unwanted = condition.not_named or ()
    found = facts.names(given, scope) if given is not None else UNKNOWN
    if not found.names & set(unwanted):
        return Answer.YES
    return Answer.NO if found.complete and found.names <= set(unwanted) else Answer.MAYBE


def _differs(facts: FileFacts, given: ast.expr, unwanted: object, scope: int) -> Answer:
    """Whether an argument is neither `unwanted` nor a tuple or list of nothing but it."""
    shown, scope = display_of(facts, given, scope)
    parts = shown.elts if isinstance(shown, (ast.Tuple, ast.List)) else [given]
    found = [facts.value(part, scope) for part in parts]
    if any(values.is_known and not any(same_constant(c, unwanted) for c in values.constants) for values in found):
        return Answer.YES
    if found and all(values.is_known for values in found):
        return Answer.NO if all(len(values.constants) == 1 for values in found) else Answer.MAYBE
    usual = (usual_values(facts, part, scope) for part in parts)
    return Answer.LIKELY if any(len(each) > 1 for each in usual) else Answer.MAYBE


def _given(call: ast.Call, callee: Callee, condition: Condition) -> tuple[ast.expr | None, bool]:
    """The argument's expression, and whether it may be given where it cannot be seen."""
    if condition.argument == "self":
        return (call.func.value if isinstance(call.func, ast.Attribute) else None), False
    position = condition.position
    bound = 0
    for partial in callee.partial:  # outermost first: its keywords win, its positional arguments come later
        bound += len(partial.args) - 1
    own = None if position is None or position < bound else position - bound
    name = condition.argument.partition(".")[0]
    given = argument_of(call, name, own)
    hidden = may_be_hidden(call, own)
    for partial in callee.partial:
        if given is None:
            inner = None if position is None else position + 1  # the first argument of partial is the function
            given = argument_of(partial, name, inner if len(callee.partial) == 1 else None)
        hidden = hidden or may_be_hidden(partial, None)
    return given, hidden


def _test(values: Values, condition: Condition) -> Answer:
    results = {meets(constant, condition) for constant in values.constants}
    if True not in results:
        return Answer.NO
    return Answer.YES if values.complete and results == {True} else Answer.MAYBE


def meets(constant: Constant, condition: Condition) -> bool:
    """Whether a constant is what a condition on constants asks for: `"sum"` of `equals = ["sum", "mean"]`."""
    if condition.matches is not None:
        return isinstance(constant, str) and re.search(condition.matches, constant) is not None
    if condition.equals is not None:
        return any(same_constant(constant, wanted) for wanted in condition.equals)
    return not any(same_constant(constant, unwanted) for unwanted in condition.not_equals or ())
