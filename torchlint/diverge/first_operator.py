"""The first operator of a step at which two runs differ, and of what kind the difference is."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from torchlint.diverge.alignment import aligned
from torchlint.diverge.recordings import Detail, Operator
from torchlint.recording.journal.records import COLLECTIVES

Kind = Literal["data", "draw", "kernel", "memory", "control-flow", "parameters"]
MEANINGS: dict[Kind, str] = {
    "data": "a tensor made from values outside torch differs",
    "draw": "a random draw differs, for the generator was in another state",
    "kernel": "equal operands gave other bits",
    "memory": "memory was read that nobody had written",
    "control-flow": "from equal values, one run went another way through the program",
    "parameters": "weights differ as they are loaded, or made outside torch",
}


@dataclass(frozen=True, slots=True)
class FirstOperator:
    """The first difference of two runs."""

    kind: Kind
    ours: Operator | None
    theirs: Operator | None
    """None, one of the two, where only one run has the operator."""
    place: int | None = None
    """The result that differs, or the operand by `-1 - place`, as values are kept; None for neither."""
    before: Operator | None = None
    """Where bytes changed that no recorded operator wrote: the operator before."""
    extras: int = 0
    """How many operators before it only one of the runs had."""
    has_extra_draws: bool = False
    collective: str = ""
    """The operator by which the tensor came from other ranks: the difference is one of theirs."""

    @property
    def operator(self) -> Operator:
        known = self.ours or self.theirs
        assert known is not None
        return known

    @property
    def is_carried(self) -> bool:
        """Whether a tensor differs that no operator of this step wrote: it may come from an earlier step."""
        if self.kind != "data" or self.place is None or self.ours is None:
            return False
        operand = self.ours.row.operands[-1 - self.place] if self.place < 0 else None
        return operand is not None and operand.writer < 0 and not self.ours.name.startswith("aten.lift")

    @property
    def digest(self) -> int:
        """Of the tensor that differs, as our run has it; 0 for none."""
        if self.place is None:
            return 0
        row = self.operator.row
        return (row.results[self.place] if self.place >= 0 else row.operands[-1 - self.place]).digest


@dataclass
class Way:
    """What was passed on the way to the first difference."""

    last: Operator | None = None
    collectives: dict[int, str] = field(default_factory=dict)
    """The names of our operators whose results other ranks have a part in, by number."""
    only_ours: list[Operator] = field(default_factory=list)
    only_theirs: list[Operator] = field(default_factory=list)
    partners: dict[int, int] = field(default_factory=dict)
    """The numbers of operators that both runs have, ours and theirs."""
    apart: dict[int, float] = field(default_factory=dict)
    """How far the results of these are apart, by our number, where that is measured."""
    furthest: float = 0.0

    @property
    def extras(self) -> int:
        return len(self.only_ours) + len(self.only_theirs)

    def passed(self, ours: Operator) -> None:
        self.last = ours
        if ours.name.startswith(COLLECTIVES):
            self.collectives[ours.number] = ours.name

    def extra_that_wrote(self, ours: int, theirs: int) -> tuple[Operator | None, Operator | None]:
        """The operators that only one run has and a tensor comes from, the first of them."""
        return _first_source(self.only_ours, ours), _first_source(self.only_theirs, theirs)

    def first_extra(self) -> tuple[Operator | None, Operator | None]:
        ours, theirs = (next(iter(own), None) for own in (self.only_ours, self.only_theirs))
        if ours is not None and theirs is not None:
            return (ours, None) if ours.number <= theirs.number else (None, theirs)
        return ours, theirs


def _first_source(extras: Sequence[Operator], writer: int) -> Operator | None:
    """The earliest of these operators that what a writer wrote comes from; None where the writer is none of them."""
    wanted, found = {writer}, None
    for each in reversed(extras):
        if each.number in wanted:
            found = each
            wanted.update(operand.writer for operand in each.row.operands)
    return found


@dataclass(frozen=True)
class Comparing:
    """The way in which operators are held against each other."""

    compared: Callable[[Operator, Operator, Way], FirstOperator | None]
    counts_extras: bool = True
    """Whether an operator that only one side ran is a difference."""
    may_have_moved: bool = False
    """Whether an operator may stand on another line of the other side."""


def first_operator(first: Detail, other: Detail, comparing: Comparing | None = None) -> FirstOperator | None:
    """The earliest difference: the main thread's, or that of the next thread where the main one has none.

    Bit by bit, unless another way is given.
    """
    for ours, theirs in zip(first.threads, other.threads, strict=False):
        found = _first_of_thread(ours, theirs, comparing or BITS)
        if found is not None:
            return found
    return None


def _first_of_thread(
    first: Sequence[Operator], other: Sequence[Operator], comparing: Comparing
) -> FirstOperator | None:
    """The earliest difference that reaches a gradient or an update; else the earliest of all."""
    way, spare = Way(), None
    reach = Reach(first)
    for ours, theirs in aligned(first, other, may_have_moved=comparing.may_have_moved):
        if theirs is None:
            way.only_ours += [ours] if ours is not None else []
        elif ours is None:
            way.only_theirs.append(theirs)
        else:
            found = comparing.compared(ours, theirs, way)
            if found is not None and (found.ours is None or reach.matters(found.ours.number)):
                return found
            spare = spare or found
            way.passed(ours)
    if spare is not None or not comparing.counts_extras:
        return spare
    ours, theirs = way.first_extra()
    return None if ours is theirs else FirstOperator("control-flow", ours, theirs)


class Reach:
    """Which operators a result gets to: a tensor that only a log shows explains no difference."""

    def __init__(self, operators: Sequence[Operator]) -> None:
        self._operators = operators
        self._has_updates = any(each.row.direction != "forward" for each in operators)

    def matters(self, number: int) -> bool:
        """Whether what an operator writes, or draws, comes to a backward pass or an update."""
        return not self._has_updates or number in self._mattering

    @functools.cached_property
    def _mattering(self) -> set[int]:
        wanted, found, is_drawn_later = set[int](), set[int](), False
        for each in reversed(self._operators):
            draws = bool(each.row.generator)
            if each.row.direction != "forward" or each.number in wanted:
                wanted.update(operand.writer for operand in each.row.operands)
                found.add(each.number)
                is_drawn_later |= draws
            elif draws and is_drawn_later:  # another state of the generator, for draws to come
                found.add(each.number)
        return found


def compared_bit_by_bit(ours: Operator, theirs: Operator, way: Way) -> FirstOperator | None:
    """How one operator differs in two runs."""
    for place, (one, two) in enumerate(zip(ours.row.operands, theirs.row.operands, strict=False)):
        if one.digest != two.digest or ours.taken[place] != theirs.taken[place]:
            return _by_operand(ours, theirs, place, way)
    if ours.row.generator != theirs.row.generator:
        return _by_generator(ours, theirs, way)
    if ours.row.arguments != theirs.row.arguments or len(ours.row.operands) != len(theirs.row.operands):
        kind: Kind = "parameters" if makes_parameters(ours) else "data"
        return FirstOperator(kind, ours, theirs, extras=way.extras)
    for place, (one, two) in enumerate(zip(ours.row.results, theirs.row.results, strict=False)):
        if one.digest != two.digest:
            return FirstOperator("kernel", ours, theirs, place, extras=way.extras)
    return None


BITS = Comparing(compared_bit_by_bit)


def _by_operand(ours: Operator, theirs: Operator, place: int, way: Way) -> FirstOperator:
    """Why an operand differs although all results before were equal."""
    one, two = ours.row.operands[place], theirs.row.operands[place]
    extra = way.extra_that_wrote(one.writer, two.writer)
    if extra != (None, None):
        draws = any(each is not None and each.row.generator for each in extra)
        return FirstOperator("draw" if draws else "control-flow", *extra, extras=way.extras, has_extra_draws=draws)
    if one.writer in way.collectives:
        return FirstOperator("data", ours, theirs, -1 - place, None, way.extras, collective=way.collectives[one.writer])
    kind: Kind = "data"
    before = None
    if one.is_unwritten or two.is_unwritten:
        kind = "memory"
    elif one.is_parameter or makes_parameters(ours):
        kind = "parameters"
    elif one.writer >= 0 and two.writer >= 0 and ours.row.arguments == theirs.row.arguments:
        kind, before = "kernel", way.last
    return FirstOperator(kind, ours, theirs, -1 - place, before, way.extras)


def _by_generator(ours: Operator, theirs: Operator, way: Way) -> FirstOperator:
    """A draw from another state; where one run drew more before, that draw is the difference."""
    mine, others = ([each for each in own if each.row.generator] for own in (way.only_ours, way.only_theirs))
    if mine or others:
        one, two = (mine[0], None) if mine else (None, others[0])
        return FirstOperator("draw", one, two, extras=way.extras, has_extra_draws=True)
    return FirstOperator("draw", ours, theirs, 0 if ours.row.results else None, extras=way.extras)


def makes_parameters(operator: Operator) -> bool:
    """Whether it writes weights outside an update, as loading does."""
    return operator.row.direction == "forward" and any(each.is_parameter for each in operator.row.results)
