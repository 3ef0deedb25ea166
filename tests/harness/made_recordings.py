"""Recordings of runs that never were, written as the recorder writes them, without torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from torchlint.diverge.recordings import Recorded, read_recorded
from torchlint.recording.journal.framing import Writer
from torchlint.recording.journal.records import (
    SUFFIX,
    Direction,
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


@dataclass(frozen=True)
class Op:
    """An operator with one operand and one result, by their digests."""

    name: str
    line: int = 1
    takes: int = 1
    gives: int = 1
    direction: Direction = "forward"
    generator: int = 0
    thread: int = 0


@dataclass(frozen=True)
class From:
    """Something from outside, before the operator that stands behind it in the list."""

    kind: EventKind
    what: str
    digest: int = 1
    line: int = 1


@dataclass(frozen=True)
class Made:
    """A step."""

    content: Sequence[Op | From]
    parameters: int = 1
    losses: tuple[float, ...] = ()
    sample: tuple[float, ...] = ()
    values: tuple[Values, ...] = ()


def recorded(folder: Path, *steps: Made, source: str = "train.py", role: str = "main") -> Recorded:
    """A run of one process; its lines are those of one file."""
    folder.mkdir(parents=True, exist_ok=True)
    writer = Writer(folder / f"1-{role.replace(' ', '-')}{SUFFIX}")
    writer.write(_header(folder, role))
    for number, step in enumerate(steps, 1):
        writer.write(*_frames(number, step, source))
    writer.close()
    return read_recorded(folder)


def _header(folder: Path, role: str) -> Header:
    return Header(
        pid=1,
        parent=0,
        role=role,
        argv=("python", "train.py"),
        folder=str(folder),
        level="operator",
        seconds=0.0,
        software={"python": "3.12.4", "torch": "2.13.0"},
        machine={},
        variables={},
    )


def _frames(number: int, step: Made, source: str) -> list[Frame]:
    """Texts and places are named anew by each step; later frames count on from earlier ones, so steps are padded."""
    operators = [each for each in step.content if isinstance(each, Op)]
    base = (number - 1) * _PLACES
    names = ["", "float32[4] cpu", *(each.name for each in operators)]
    places = [((source, line),) for line in range(_PLACES)]
    rows: list[Row] = []
    outside: list[Outside] = []
    for each in step.content:
        if isinstance(each, From):
            outside.append(Outside(each.kind, each.what, each.digest, base + each.line, len(rows)))
            continue
        taken, given = (Tensor(digest, base + 1) for digest in (each.takes, each.gives))
        name, place = base + 2 + len(rows), base + each.line
        row = Row(name, each.direction, place, base, (taken,), (given,), 0, each.generator, each.thread)
        rows.append(row)
    return [
        Names(tuple(names + [""] * (_PLACES - len(names))), tuple(places)),
        Rows(tuple(rows), tuple(outside)),
        *step.values,
        Step(
            number=number,
            ends_with="optimizer 1",
            operators=number * len(operators),
            calls=0,
            losses=step.losses,
            values={"parameters": step.parameters},
            sample=step.sample,
        ),
    ]


_PLACES = 300
"""Lines of the file, and texts of a step."""
