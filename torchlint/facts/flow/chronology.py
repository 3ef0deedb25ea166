"""Which of two things that become of a value may come first, and which branches it takes on its way."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from torchlint.facts.calls import targets
from torchlint.facts.control.blocks import loops_around
from torchlint.facts.control.conditions import decisions
from torchlint.facts.control.order import precedes
from torchlint.facts.flow.values import ELSEWHERE, Value
from torchlint.facts.functions import parameter_binding

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

Calls = Sequence[ast.Call]


class Chronology:
    """The order of what becomes of a value that is made anew wherever it is said to be."""

    def __init__(self, facts: FileFacts) -> None:
        self._facts = facts
        self._functions: set[int | None] = set()
        """Each of their calls has a value of its own; to others one may come in several calls."""
        self._loops: set[ast.AST] = set()
        """Each of their rounds has a value of its own."""

    def made(self, statement: ast.stmt) -> None:
        """Each time that a statement runs it makes the value anew."""
        self._functions.add(self._facts.function_of(self._facts.symbols.scope_of[statement]))
        self._loops.update(loops_around(self._facts, statement))

    def may_precede(self, one: Value, other: Value) -> bool:
        """Whether what happens to the value at one place may have happened before it gets to the other."""
        ways = zip((*one.calls, one.node), (*other.calls, other.node), strict=False)
        depth, (first, second) = next(
            ((depth, pair) for depth, pair in enumerate(ways) if pair[0] is not pair[1]), (0, (one.node, other.node))
        )
        statements = [self._facts.index.statement_of(node) for node in (first, second)]
        functions = {self._facts.function_of(self._facts.symbols.scope_of[statement]) for statement in statements}
        shared = set.intersection(*(set(loops_around(self._facts, statement)) for statement in statements))
        if len(functions) > 1 or (depth <= 0 and not functions <= self._functions):
            return True
        return not shared <= self._loops or precedes(self._facts, first, second)


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
        is_option = answer is None and isinstance(holder.test, (ast.Name, ast.Attribute))
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
    given: tuple[ast.expr | None, int] = (parameter_binding(facts, owner.index, name).value, owner.parent or 0)
    for call in calls:
        if call is ELSEWHERE:
            continue
        run = [one for one in targets(facts, call, facts.index.inner_scope_of(call)) if one.function is owner]
        if run:
            given = run[0].argument(name) or given
    values = facts.value(*given)
    answers = {bool(constant) for constant in values.constants}
    return answers.pop() if values.is_known and len(answers) == 1 else None
