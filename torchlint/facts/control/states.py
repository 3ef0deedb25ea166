"""What may hold at each place of a function of what happens in it: data flow over its blocks, in one pass.

A state is a number with a bit for each thing that may hold. An effect is a state with one bit more, `BEFORE`: what held
before goes on. So what happens one after the other is put together by `then`, and what happens in this branch or that
by `|`; the states of a loop's body are told by what holds at its head, which is known at its end.
"""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from msgspec import Struct, field

from torchlint.facts.control.blocks import Loop, block_of, jumps
from torchlint.facts.control.conditions import leaves
from torchlint.facts.control.order import Position, end_of, start_of, swallows

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

BEFORE = 1
State: TypeAlias = int
Effect: TypeAlias = int


def then(before: int, effect: Effect) -> int:
    """What holds behind an effect."""
    return effect & ~BEFORE | (before if effect & BEFORE else 0)


class Events(Struct):
    """What happens in a function."""

    within: dict[ast.stmt, list[tuple[Position, Effect]]] = field(default_factory=dict)
    """By the statement whose own expressions it happens in: where, and what it does."""
    entering: dict[ast.AST, Effect] = field(default_factory=dict)
    """What is done where the body of a loop, a `with`, a handler or a case is entered."""

    def add(self, statement: ast.stmt, place: Position, effect: Effect) -> None:
        insort(self.within.setdefault(statement, []), (place, effect))

    def enter(self, statement: ast.stmt, holder: ast.AST, effect: Effect) -> None:
        """Something done where a statement enters a part of itself."""
        self.within.setdefault(statement, [])
        self.entering[holder] = effect | self.entering.get(holder, 0)


class _Frame(Struct):
    """A loop, or the whole function: states inside it are told by what holds at its head."""

    outer: _Frame | None = None
    jumps: tuple[Sequence[Position], Sequence[Position]] = ((), ())
    """Where it is broken off, and where it goes on with the next round."""
    left: list[Effect] = field(default_factory=lambda: [0, 0])
    """What holds there."""
    head: Effect = BEFORE
    """What holds at its head, told by the frame around it; then all told."""
    is_settled: bool = False

    def settle(self, entry: State) -> State:
        if not self.is_settled:
            self.head = then(entry if self.outer is None else self.outer.settle(entry), self.head)
            self.is_settled = True
        return self.head


class States:
    """The states of the function, the class body or the module that holds a block."""

    def __init__(self, facts: FileFacts, block: list[ast.stmt], events: Events, entry: State) -> None:
        self._facts, self._events, self._entry = facts, events, entry
        self._relevant = _relevant(facts, block, events)
        self._frame = _Frame()
        self._places: list[Position] = [(0, 0)]
        self._points: list[tuple[_Frame, Effect]] = [(self._frame, BEFORE)]
        self._block(block, (0, 0), BEFORE)

    def at(self, place: Position) -> State:
        """What may hold at a place, of which what ends there is past."""
        frame, effect = self._points[bisect_right(self._places, place) - 1]
        return then(frame.settle(self._entry), effect)

    def _now(self, place: Position, state: Effect) -> Effect:
        """From a place on something else holds; what held up to here holds behind the loop that is left on the way."""
        frame, held = self._points[-1]
        for kind, places in enumerate(frame.jumps):
            if bisect_left(places, self._places[-1]) < bisect_left(places, place):
                frame.left[kind] |= held
        self._places.append(max(place, self._places[-1]))
        self._points.append((self._frame, state))
        return state

    def _ever(self, since: int) -> State:
        """All that has held at some time."""
        found = 0
        for _, state in self._points[since:]:
            found |= state
        return found & ~BEFORE

    def _block(self, block: Sequence[ast.stmt], start: Position, state: Effect) -> Effect:
        """What holds behind a block, from what holds before it."""
        if not block:
            return state
        self._now(start, state)
        for statement in self._relevant.get(id(block), ()):
            walk = self._walks.get(type(statement), States._own)
            state = self._now(end_of(statement), walk(self, statement, state))
        return self._now(end_of(block[-1]), 0 if leaves(self._facts, block) else state)

    def _own(self, statement: ast.stmt, state: Effect) -> Effect:
        """What the expressions of a statement do."""
        for place, effect in self._events.within.get(statement, ()):
            state = self._now(place, then(state, effect))
        return state

    def _entered(self, holder: ast.AST, state: Effect) -> Effect:
        return then(state, self._events.entering.get(holder, BEFORE))

    # -- statements; `_walks` names them -------------------------------------------------------------------------------

    def _class(self, statement: ast.ClassDef, state: Effect) -> Effect:
        return self._own(statement, self._block(statement.body, start_of(statement), state))

    def _if(self, statement: ast.If, state: Effect) -> Effect:
        state = self._own(statement, state)
        found = self._block(statement.body, end_of(statement.test), state)
        return found | self._block(statement.orelse, end_of(statement.body[-1]), state)

    def _match(self, statement: ast.Match, state: Effect) -> Effect:
        state = self._own(statement, state)
        found = 0
        for case in statement.cases:
            start = case.pattern.lineno, case.pattern.col_offset
            found |= self._block(case.body, start, self._entered(case, state))
        last = statement.cases[-1]
        is_total = last.guard is None and isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None
        return found if is_total else found | state

    def _with(self, statement: ast.With | ast.AsyncWith, state: Effect) -> Effect:
        since = len(self._points)
        state = self._own(statement, state)
        found = self._block(statement.body, end_of(statement.items[-1].context_expr), self._entered(statement, state))
        return found | state | self._ever(since) if swallows(self._facts, statement) else found

    def _try(self, statement: ast.Try, state: Effect) -> Effect:
        since = len(self._points)
        tried = self._block(statement.body, start_of(statement), state)
        raised, found = state | self._ever(since), 0
        for handler in statement.handlers:
            start = handler.lineno, handler.col_offset
            found |= self._block(handler.body, start, self._entered(handler, raised))
        last = statement.handlers[-1].body[-1] if statement.handlers else statement.body[-1]
        found |= self._block(statement.orelse, end_of(last), tried)
        if not statement.finalbody:
            return found
        last = statement.orelse[-1] if statement.orelse else last
        behind = self._block(statement.finalbody, end_of(last), found | state | self._ever(since))
        return behind if id(statement.finalbody) in self._relevant else found if behind else 0

    def _loop(self, loop: Loop, state: Effect) -> Effect:
        outer, frame = self._frame, _Frame(self._frame, self._facts.cached(jumps).get(loop, ((), ())))
        if isinstance(loop, ast.While):
            self._frame = frame
            self._now(start_of(loop), BEFORE)
            tested, start = self._own(loop, BEFORE), end_of(loop.test)
        else:
            state = self._own(loop, state)
            self._frame, tested, start = frame, BEFORE, end_of(loop.iter)
        round_ = self._block(loop.body, start, self._entered(loop, tested)) | frame.left[1]
        frame.head, self._frame = state | (round_ & ~BEFORE), outer
        is_endless = isinstance(loop, ast.While) and isinstance(loop.test, ast.Constant) and bool(loop.test.value)
        ended = 0 if is_endless else then(frame.head, tested)
        self._now(end_of(loop.body[-1]), ended)
        return self._block(loop.orelse, end_of(loop.body[-1]), ended) | then(frame.head, frame.left[0])

    _walks: ClassVar[dict[type[ast.stmt], Callable[[States, Any, Effect], Effect]]] = {
        ast.ClassDef: _class,
        ast.If: _if,
        ast.Match: _match,
        **dict.fromkeys((ast.With, ast.AsyncWith), _with),
        **dict.fromkeys((ast.Try, getattr(ast, "TryStar", ast.Try)), _try),
        **dict.fromkeys((ast.For, ast.AsyncFor, ast.While), _loop),
    }


def _relevant(facts: FileFacts, block: list[ast.stmt], events: Events) -> Mapping[int, dict[ast.stmt, None]]:
    """By the block: the statements in which something happens, in source order. Most code is never looked at."""
    found: dict[int, dict[ast.stmt, None]] = {}
    for statement in sorted(events.within, key=start_of):
        current: ast.stmt | None = statement
        while current is not None:
            holding = block_of(facts, current)
            siblings = found.setdefault(id(holding), {})
            if current in siblings:
                break
            siblings[current] = None
            current = None if holding is block else facts.symbols.parents[current]
    return found
