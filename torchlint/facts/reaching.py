"""Which of a name's bindings may hold where it is read: "reaching definitions", each of one name by itself."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from torchlint.facts.control.blocks import Function, loops_around
from torchlint.facts.control.order import Position, end_of, start_of
from torchlint.facts.control.states import BEFORE, Events, State, States
from torchlint.facts.grouping import grouped
from torchlint.facts.memoizing import memoized
from torchlint.facts.scopes import Binding, Scope, ScopeKind, Variable

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

Place: TypeAlias = ast.expr | ast.stmt
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_MAYBE = (ast.BoolOp, ast.IfExp, ast.comprehension, *_COMPREHENSIONS, ast.Lambda)
"""What may not run all that it holds."""


@memoized
def reaching(facts: FileFacts, name: str, scope: int, place: Place) -> list[Binding]:
    """The bindings of `name` that may give its value at a place of `scope`, in source order.

    All of them where none is seen to. An augmented assignment (`x += y`) changes a value and keeps what it is, so it
    counts only where it stands alone.
    """
    owner = facts.resolver.owner(name, scope)
    if owner is None:
        return []
    found = _in_order(facts, name, owner.index)
    if len(found) < 2 or owner.kind in (ScopeKind.LAMBDA, ScopeKind.COMPREHENSION):
        facts.spend(len(found))
        return found or list(owner.bindings[name])
    states, anytime = _of_bindings(facts, name, owner.index)
    held = (_held(facts, found, owner, scope, place, states) | anytime) & (2 << len(found)) - 1
    told = [found[bit - 1] for bit in _bits(held & ~BEFORE)] or list(found)
    facts.spend(len(told))
    return told


def lasting(
    facts: FileFacts, owner: Scope, name: str, stored: ast.stmt | None, enders: Sequence[ast.stmt]
) -> Callable[[ast.stmt], bool]:
    """Whether what a statement has put into a name, or a parameter was given, may be there when a statement begins.

    The enders put an end to it, and so does what binds the name anew. Asked of statements of the same function.
    """
    given, events = 2, Events()
    for binding in _in_order(facts, name, owner.index) if name else ():
        if binding.statement is not None and _is_inside(facts, binding.statement, owner):
            _happens(facts, name, binding, binding.statement, given if binding.statement is stored else 0, events)
    for ender in enders:
        events.add(ender, end_of(ender), 0)
    if stored is not None and stored not in events.within:
        events.add(stored, end_of(stored), given | BEFORE)
    states = States(facts, owner.node.body, events, given if stored is None else 0)  # type: ignore[attr-defined]
    return lambda statement: bool(states.at(start_of(statement)) & given)


@memoized
def reads_by_binding(facts: FileFacts, owner: int, name: str) -> Mapping[ast.stmt | None, list[ast.Name]]:
    """The reads of a name of a scope, by the statements that may give it the value that is read."""
    reads = ((one, reaching(facts, name, facts.index.scope_of(one), one)) for one in facts.index.reads(owner, name))
    return grouped((one, read) for read, bound in reads for one in dict.fromkeys(each.statement for each in bound))


@memoized
def _in_order(facts: FileFacts, name: str, scope: int) -> list[Binding]:
    """All that binds a name of a scope, parameters first."""
    owner = facts.symbols.scopes[scope]
    kept = (one for one in owner.bindings[name] if not isinstance(one.statement, ast.AugAssign))
    return sorted(kept, key=lambda one: _start(one, owner))


def _start(binding: Binding, owner: Scope) -> Position:
    is_first = binding.statement is None or binding.statement is owner.node
    return (0, 0) if is_first else start_of(binding.statement)  # type: ignore[arg-type]


@memoized
def _of_bindings(facts: FileFacts, name: str, scope: int) -> tuple[States, State]:
    """Where the bindings of a name hold, the first told by the bit above `BEFORE`, and those that nobody knows when.

    These are what functions bind by `global`.
    """
    owner = facts.symbols.scopes[scope]
    events, entry, anytime = Events(), 0, 0
    for deletion in facts.cached(_deletions).get((scope, name), ()):
        events.add(deletion, end_of(deletion), 0)
    for index, binding in enumerate(_in_order(facts, name, scope), start=1):
        statement = binding.statement
        if statement is None or statement is owner.node:
            entry |= 1 << index
        elif _is_inside(facts, statement, owner):
            _happens(facts, name, binding, statement, 1 << index, events)
        else:
            anytime |= 1 << index
    return States(facts, owner.node.body, events, entry), anytime  # type: ignore[attr-defined]


def _is_inside(facts: FileFacts, statement: ast.stmt, owner: Scope) -> bool:
    """Whether a statement runs where its name lives, and is no part of a function in there."""
    return statement is not owner.node and facts.function_of(facts.symbols.scope_of[statement]) == owner.function


def _happens(facts: FileFacts, name: str, binding: Binding, statement: ast.stmt, bit: State, events: Events) -> None:
    """Where a statement binds a name."""
    is_plain = isinstance(statement, (ast.Assign, ast.AnnAssign)) and binding.value is statement.value
    walrus = None if is_plain or binding.value is None else facts.index.within(statement).get(binding.value)
    if isinstance(walrus, ast.NamedExpr):
        is_sure = not any(isinstance(above, _MAYBE) for above, _ in facts.index.ancestors(walrus))
        events.add(statement, end_of(walrus.value), bit if is_sure else bit | BEFORE)
    elif isinstance(statement, (ast.For, ast.AsyncFor, ast.With, ast.AsyncWith)):
        events.enter(statement, statement, bit)
    elif isinstance(statement, ast.Match):
        for case in statement.cases:
            if any(getattr(part, "name", None) == name for part in ast.walk(case.pattern)):
                events.enter(statement, case, bit)
    elif hasattr(statement, "handlers"):
        for handler in statement.handlers:
            if handler.name == name:
                events.enter(statement, handler, bit)
    else:
        is_declared = isinstance(statement, ast.AnnAssign) and statement.value is None
        events.add(statement, end_of(statement), bit | BEFORE if is_declared else bit)


def _deletions(facts: FileFacts) -> Mapping[Variable, list[ast.stmt]]:
    found: dict[Variable, list[ast.stmt]] = {}
    for statement, scope in facts.symbols.scope_of.items():
        for target in statement.targets if isinstance(statement, ast.Delete) else ():
            owner = facts.resolver.owner(target.id, scope) if isinstance(target, ast.Name) else None
            if owner is not None and owner.function == facts.function_of(scope):
                found.setdefault((owner.index, target.id), []).append(statement)  # type: ignore[attr-defined]
    return found


def _held(facts: FileFacts, found: Sequence[Binding], owner: Scope, scope: int, place: Place, states: States) -> State:
    """The bits of the bindings that are there at a place."""
    inner = facts.function_of(scope)
    if inner == owner.function or inner is None:
        return states.at(start_of(place))
    # An inner function may be run whenever it is there: right behind its definition, or behind all that comes later.
    while (outer := facts.function_of(facts.symbols.scopes[inner].parent or 0)) is not None and outer != owner.function:
        inner = outer
    definition = facts.symbols.scopes[inner].node
    assert isinstance(definition, Function)
    first = [definition, *loops_around(facts, definition)][-1]
    later = bisect_left(found, start_of(first), key=lambda one: _start(one, owner))
    return states.at(end_of(definition)) | -1 << later + 1


def _bits(state: State) -> Iterator[int]:
    while state:
        lowest = state & -state
        yield lowest.bit_length() - 1
        state ^= lowest
