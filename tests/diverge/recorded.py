"""Recordings made by hand: steps and operators as a program of one line each would leave them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from torchlint.diverge.recordings import Detail, Operator
from torchlint.recording.journal.framing import Writer
from torchlint.recording.journal.names import Level
from torchlint.recording.journal.records import (
    Direction,
    End,
    EventKind,
    Frame,
    Header,
    Names,
    Outside,
    Row,
    Rows,
    Step,
    Tensor,
    Values,
)

FLOAT = "float32[4] cpu"


@dataclass(frozen=True)
class Held:
    """A tensor: what it holds, by a number or by its elements."""

    digest: int = 1
    sample: tuple[float, ...] = ()
    kind: str = FLOAT
    writer: int = -1
    is_parameter: bool = False
    is_unwritten: bool = False

    def tensor(self, kind: int = 0) -> Tensor:
        return Tensor(self.digest, kind, self.writer, self.is_parameter, self.is_unwritten, self.sample)


@dataclass(frozen=True)
class Call:
    """An operator on a line of train.py."""

    name: str
    line: int
    takes: tuple[Held, ...] = ()
    gives: tuple[Held, ...] = ()
    direction: Direction = "forward"
    generator: int = 0
    arguments: int = 0
    thread: int = 0
    path: str = "/project/train.py"

    def row(self, operator: int = 0, place: int = 0, kinds: Mapping[str, int] | None = None) -> Row:
        known = kinds or {}
        operands, results = (
            tuple(each.tensor(known.get(each.kind, 0)) for each in own) for own in (self.takes, self.gives)
        )
        return Row(operator, self.direction, place, 0, operands, results, self.arguments, self.generator, self.thread)


def operators(*calls: Call) -> tuple[Operator, ...]:
    """The operators of one thread."""
    return tuple(_operator(each, number) for number, each in enumerate(calls))


def _operator(call: Call, number: int) -> Operator:
    taken, given = (tuple(each.kind for each in own) for own in (call.takes, call.gives))
    stack = ((call.path, call.line),)
    return Operator(call.name, stack, "", call.row(), number, taken, given, stack)


def detail(*calls: Call) -> Detail:
    """A step of one thread."""
    step = Step(number=1, ends_with="optimizer 1", operators=len(calls))
    return Detail(step, (operators(*calls),), (), is_cut=False)


@dataclass(frozen=True)
class Entered:
    """Something from outside torch, on a line of train.py."""

    kind: EventKind
    what: str
    digest: int
    line: int
    row: int = 0


@dataclass(frozen=True)
class Made:
    """A step of a program."""

    calls: tuple[Call, ...] = ()
    entered: tuple[Entered, ...] = ()
    values: Mapping[str, int] = field(default_factory=lambda: {"parameters": 1})
    losses: tuple[float, ...] = ()
    sample: tuple[float, ...] = ()
    kept: tuple[Values, ...] = ()
    ends_with: str = "optimizer 1"
    devices: tuple[str, ...] = ("cpu",)


class Recorder:
    """Writes a recording. What a test says nothing about is as ordinary as can be."""

    def __init__(self, path: Path, *, level: Level = "operator", role: str = "main", **header: object) -> None:
        self._names: dict[object, int] = {}
        self._places: dict[tuple[str, int], int] = {}
        self._number = self._operators = 0
        self._writer = Writer(path)
        self._level = level
        ordinary: dict[str, object] = {
            "pid": 1,
            "parent": 0,
            "argv": ("python", "train.py"),
            "folder": "/project",
            "seconds": 0.0,
            "software": {"python": "3.12.1", "torch": "2.13.0"},
            "machine": {"cpu": "A processor"},
            "variables": {},
        }
        self._writer.write(msgspec.convert({"level": level, "role": role, **ordinary, **header}, Header))

    def write(self, *steps: Made) -> None:
        for each in steps:
            self._number += 1
            self._operators += len(each.calls) or 1
            self._writer.write(*self._rows(each), *each.kept, self._step(each))

    def end(self, reason: str | None = "exit", troubles: tuple[str, ...] = ()) -> None:
        """The last frame; None for a program that was killed."""
        if reason is not None:
            self._writer.write(End(reason=reason, seconds=1.0, troubles=troubles))
        self._writer.close()

    def _rows(self, step: Made) -> Iterable[Frame]:
        if self._level == "step" and not step.entered:
            return
        texts, places = _new(self._names, _texts_of(step.calls)), _new(self._places, _places_of(step))
        if texts or places:
            yield Names(tuple(map(str, texts)), tuple((each,) for each in places))
        calls = step.calls if self._level != "step" else ()
        kinds = {str(name): number for name, number in self._names.items()}
        rows = tuple(each.row(kinds[each.name], self._places[each.path, each.line], kinds) for each in calls)
        rows = tuple(msgspec.structs.replace(each, module=kinds[""]) for each in rows)
        entered = tuple(
            Outside(each.kind, each.what, each.digest, self._places["/project/train.py", each.line], each.row)
            for each in step.entered
        )
        yield Rows(rows, entered)

    def _step(self, step: Made) -> Step:
        return Step(
            number=self._number,
            ends_with=step.ends_with,
            operators=self._operators,
            losses=step.losses,
            values=dict(step.values),
            generators={f"torch {device}": 1 for device in step.devices},
            sample=step.sample,
        )


def recorded(path: Path, *steps: Made, reason: str | None = "exit", **header: Any) -> Path:  # noqa: ANN401 - fields of a header
    """A whole recording; `reason` is None for a program that was killed."""
    recorder = Recorder(path, **header)
    recorder.write(*steps)
    recorder.end(reason)
    return path


def _texts_of(calls: Sequence[Call]) -> list[object]:
    kinds = [held.kind for each in calls for held in (*each.takes, *each.gives)]
    return ["", *(each.name for each in calls), *kinds]


def _places_of(step: Made) -> list[tuple[str, int]]:
    return [*((each.path, each.line) for each in step.calls), *(("/project/train.py", e.line) for e in step.entered)]


def _new(known: dict[Any, int], named: Sequence[Any]) -> list[Any]:
    """Those that get a number now."""
    new = [each for each in dict.fromkeys(named) if each not in known]
    known.update({each: len(known) + place for place, each in enumerate(new)})
    return new
