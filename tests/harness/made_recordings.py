"""Recordings of runs that never were, written as the recorder writes them, without torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from torchlint.diverge.recordings import Recorded, read_recorded
from torchlint.recording.journal.framing import Writer
from torchlint.recording.journal.names import SUFFIX
from torchlint.recording.journal.records import (
    Direction,
    EventKind,
    Header,
    Names,
    Outside,
    Row,
    Rows,
    Step,
    Tensor,
    Values,
)

_KIND = "float32[4] cpu"


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
    content = [each for step in steps for each in step.content]
    texts = ("", _KIND, *dict.fromkeys(each.name for each in content if isinstance(each, Op)))
    places = tuple(((source, line),) for line in range(1 + max(each.line for each in content)))
    writer = Writer(folder / f"1-{role.replace(' ', '-')}{SUFFIX}")
    writer.write(_header(folder, role), Names(texts, places))
    for number, step in enumerate(steps, 1):
        writer.write(_rows(step, texts), *step.values, _step(number, step))
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


def _rows(step: Made, texts: Sequence[str]) -> Rows:
    rows: list[Row] = []
    outside: list[Outside] = []
    for each in step.content:
        if isinstance(each, From):
            outside.append(Outside(each.kind, each.what, each.digest, each.line, len(rows)))
            continue
        taken, given = (Tensor(digest, texts.index(_KIND)) for digest in (each.takes, each.gives))
        name = texts.index(each.name)
        rows.append(Row(name, each.direction, each.line, 0, (taken,), (given,), 0, each.generator, each.thread))
    return Rows(tuple(rows), tuple(outside))


def _step(number: int, step: Made) -> Step:
    return Step(
        number=number,
        ends_with="optimizer 1",
        operators=number * sum(isinstance(each, Op) for each in step.content),
        losses=step.losses,
        values={"parameters": step.parameters},
        sample=step.sample,
    )
