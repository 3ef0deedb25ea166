"""The search: a value is followed from where it is made until something is made of it, or it is out of sight."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from torchlint.facts.file import FileFacts
from torchlint.facts.flow import stores
from torchlint.facts.flow.expressions import steps
from torchlint.facts.flow.values import Exit, Given, Kept, Move, Returned, Stored, Value

_MOST = 2000
"""Moves of one value. What makes more is one that everything gets at."""
_MOST_IN_ALL = 10_000
"""Moves that an analysis makes in one file, of all values together: machine-written files make thousands of them."""


class Sink(msgspec.Struct, frozen=True):
    """What is made of a value, in words, and where."""

    what: str
    node: ast.AST


class Analysis(ABC):
    """What a rule says of the values that it follows."""

    def __init__(self, facts: FileFacts) -> None:
        self.facts = facts

    @abstractmethod
    def steps(self, value: Value) -> Iterable[Move | Sink]:
        """What is made of the value itself by what stands around it; nothing where that makes it harmless."""

    def sanitizes(self, _node: ast.expr) -> bool:
        """Whether the statement around an expression makes the value harmless that it gives."""
        return False

    def arrives(self, _move: Move | None, _value: Value) -> bool:
        """Whether a value still counts where it is read that a move leads to; None: it comes from another file."""
        return True

    def passes(self, value: Value) -> Iterable[Move | Sink]:
        """What all values do here."""
        return steps(self.facts, value)

    def beyond(self, _move: Move) -> Iterable[Move | Sink]:
        """What else may become of a value where it is kept, handed on or given back: for rules that must see all."""
        return ()


class Flow(msgspec.Struct):
    """Where a value got: to a sink, and out of the file."""

    sink: Sink | None = None
    exits: list[Exit] = msgspec.field(default_factory=list)
    is_whole: bool = True
    """Whether the search finished."""
    trace: list[tuple[ast.AST, str]] = msgspec.field(default_factory=list)
    """Where it was kept, handed on and given back on its way to the sink, in words."""

    @property
    def is_contained(self) -> bool:
        """Whether the value got to no sink in the file."""
        return self.sink is None and self.is_whole


def follow(analysis: Analysis, *starts: Move) -> Flow:
    """The first sink that a value reaches, on the shortest way; where there is none, all ways out of the file."""
    made = analysis.facts.cached(_moves_made)
    seen: dict[Move, Move | None] = dict.fromkeys(one for one in starts if _counts(analysis, None, one))
    waiting = deque(seen)
    while waiting and len(seen) < _MOST and made[type(analysis)] < _MOST_IN_ALL:
        move = waiting.popleft()
        for one in _next(analysis, move):
            made[type(analysis)] += 1
            analysis.facts.spend()
            if isinstance(one, Sink):
                return Flow(one, trace=_trace(move, seen))
            if one not in seen and _counts(analysis, move, one):
                seen[one] = move
                waiting.append(one)
    return Flow(exits=[move for move in seen if isinstance(move, Exit)], is_whole=not waiting)


def _moves_made(_facts: FileFacts) -> Counter[type[Analysis]]:
    """How many moves each analysis has made in a file so far."""
    return Counter()


def _counts(analysis: Analysis, move: Move | None, found: Move) -> bool:
    return not isinstance(found, Value) or isinstance(move, Value) or analysis.arrives(move, found)


def _trace(last: Move, origins: Mapping[Move, Move | None]) -> list[tuple[ast.AST, str]]:
    found: list[tuple[ast.AST, str]] = []
    move: Move | None = last
    while move is not None:
        if isinstance(move, Stored):
            found.append((move.value.node, f"kept in `{move.name}`"))
        elif isinstance(move, Given):
            found.append((move.value.node, f"handed on as `{move.parameter}`"))
        elif isinstance(move, Returned):
            found.append((move.value.node, "returned"))
        move = origins[move]
    return [one for one in reversed(found) if hasattr(one[0], "lineno")]


def _next(analysis: Analysis, move: Move) -> Iterator[Move | Sink]:
    facts = analysis.facts
    yield from analysis.beyond(move)
    if isinstance(move, Value):
        yield from analysis.passes(move) if move.path else analysis.steps(move)
    elif isinstance(move, Kept):
        yield from stores.kept(facts, move, analysis.sanitizes)
    elif isinstance(move, Given):
        yield from stores.given(facts, move, analysis.sanitizes)
    elif isinstance(move, Stored):
        yield from stores.stored(facts, move, analysis.sanitizes)
    elif isinstance(move, Returned):
        yield from stores.returned(facts, move)
