"""Which branches a value takes: tests of parameters, by what the calls on its way give, or by their defaults."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from torchlint.facts.calls import targets
from torchlint.facts.control.conditions import decisions
from torchlint.facts.flow.values import ELSEWHERE
from torchlint.facts.scopes import BindingKind

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

Calls = Sequence[ast.Call]


def is_ruled_out(facts: FileFacts, statement: ast.stmt, calls: Calls, stored: ast.stmt | None = None) -> bool:
    """`if shuffle:` in a function that is called with `shuffle=False`; `stored` shows what tests the value has met."""
    met = set() if stored is None else set(decisions(facts, stored))
    asked = (one for one in decisions(facts, statement) if one not in met)
    return any(_answer(facts, one.test, calls) is (not answer) for one, answer in asked)


def as_usual(facts: FileFacts, statement: ast.stmt, calls: Calls) -> Iterator[ast.stmt]:
    """A statement, and each `if` around it that usually runs it: options mostly ask for what is wanted."""
    yield statement
    holder = facts.symbols.parents[statement]
    if isinstance(holder, ast.If):
        answer = _answer(facts, holder.test, calls)
        is_option = answer is None and isinstance(holder.test, ast.Name | ast.Attribute)
        if answer is (statement in holder.body) or (is_option and statement in holder.body):
            yield from as_usual(facts, holder, calls)


def _answer(facts: FileFacts, test: ast.expr, calls: Calls) -> bool | None:
    """What a test of a parameter comes to; None where that is not known."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _answer(facts, test.operand, calls)
        return None if inner is None else not inner
    scope = facts.index.scope_of(test)
    name = facts.parameter_named(test, scope)
    owner = None if name is None else facts.resolver.owner(name, scope)
    if name is None or owner is None:
        return None
    given: tuple[ast.expr | None, int] = (_default(facts, owner.index, name), owner.parent or 0)
    for call in calls:
        if call is ELSEWHERE:
            continue
        run = [one for one in targets(facts, call, facts.index.inner_scope_of(call)) if one.function is owner]
        if run:
            given = run[0].argument(name) or given
    values = facts.value(*given)
    answers = {bool(constant) for constant in values.constants}
    return answers.pop() if values.is_known and len(answers) == 1 else None


def _default(facts: FileFacts, function: int, name: str) -> ast.expr | None:
    bindings = facts.symbols.scopes[function].bindings[name]
    return next((one.value for one in bindings if one.kind is BindingKind.PARAMETER), None)
