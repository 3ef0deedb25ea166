"""Recordings as they are read: process by process, step by step, without holding more than one step."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from torchlint.errors import TorchlintError
from torchlint.recording.journal.framing import NotARecording, frames_of, header_of
from torchlint.recording.journal.records import SUFFIX, End, Header, Names, Outside, Row, Rows, Step, Values

Stack = tuple[tuple[str, int], ...]
_FOLDERS = re.compile(r".*[/\\]")


@dataclass(frozen=True, slots=True)
class Operator:
    """A row with its words: what ran, where, on what."""

    name: str
    """`aten.index_put.default`, or the class of a module."""
    stack: Stack
    module: str
    row: Row
    number: int
    """The number of the row in its step, which `writer` of an operand means."""
    taken: tuple[str, ...]
    given: tuple[str, ...]
    """The kinds of operands and results: `float32[4,8] cpu`."""

    lines: Stack
    """The stack by the names of files alone: the folders of two machines, and of two kernels, are not the same."""

    @property
    def key(self) -> tuple[str, str, str, Stack]:
        """What makes two operators of two runs the same one."""
        return self.name, self.row.direction, self.module, self.lines


@dataclass(frozen=True, slots=True)
class Event:
    """Something that entered from outside torch."""

    kind: str
    what: str
    digest: int
    stack: Stack
    row: int
    step: int
    lines: Stack
    """The stack by the names of files alone."""


@dataclass(frozen=True, slots=True)
class Detail:
    """One step with its operators, by thread, and its events."""

    step: Step
    threads: tuple[tuple[Operator, ...], ...]
    events: tuple[Event, ...]
    is_cut: bool


class Recording:
    """The file of one process. Raises NotARecording for a file that is none."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.header: Header = header_of(path)

    def steps(self) -> Iterator[Step]:
        """Yield the steps; nothing else is decoded."""
        for frame in frames_of(self.path, b"S".__eq__):
            if isinstance(frame, Step):
                yield frame

    def details(self) -> Iterator[Detail]:
        """Yield the steps with what was written of their operators and events."""
        names = _Names()
        rows: Rows | None = None
        for frame in frames_of(self.path, lambda letter: letter in b"NRS"):
            if isinstance(frame, Names):
                names.add(frame)
            elif isinstance(frame, Rows):
                rows = frame
            elif isinstance(frame, Step):
                yield names.detail(frame, rows or Rows((), ()))
                rows = None

    def detail(self, number: int) -> Detail | None:
        """The step with this number."""
        return next((each for each in self.details() if each.step.number == number), None)

    def values(self) -> dict[tuple[int, int], Values]:
        """The tensors that were kept whole, by row and place."""
        return {(each.row, each.place): each for each in frames_of(self.path, b"V".__eq__) if isinstance(each, Values)}

    def end(self) -> End | None:
        """The last frame; None for a program that was killed."""
        return next((each for each in frames_of(self.path, b"E".__eq__) if isinstance(each, End)), None)


class _Names:
    """Texts and places by their numbers."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._places: list[Stack] = []
        self._lines: list[Stack] = []

    def add(self, names: Names) -> None:
        self._texts += names.texts
        self._places += names.places
        self._lines += [tuple((_FOLDERS.sub("", path), line) for path, line in stack) for stack in names.places]

    def detail(self, step: Step, rows: Rows) -> Detail:
        threads: dict[int, list[Operator]] = {}
        for number, row in enumerate(rows.rows):
            threads.setdefault(row.thread, []).append(self._operator(row, number))
        events = tuple(self._event(each, step.number) for each in rows.outside)
        return Detail(step, tuple(tuple(own) for _, own in sorted(threads.items())), events, rows.is_cut)

    def _operator(self, row: Row, number: int) -> Operator:
        taken, given = (tuple(self._texts[each.kind] for each in own) for own in (row.operands, row.results))
        name, module = self._texts[row.operator], self._texts[row.module]
        place, lines = self._places[row.place], self._lines[row.place]
        return Operator(name, place, module, row, number, taken, given, lines)

    def _event(self, event: Outside, step: int) -> Event:
        place, lines = self._places[event.place], self._lines[event.place]
        return Event(event.kind, event.what, event.digest, place, event.row, step, lines)


@dataclass(frozen=True)
class Recorded:
    """The recordings of one run, by process: `main`, `rank 3`, `worker 0 of main`."""

    processes: dict[str, Recording]

    @property
    def principals(self) -> dict[str, Recording]:
        """The processes that train: not the workers of loaders, nor launchers, which run no operator."""
        own = {name: each for name, each in self.processes.items() if name.startswith(("main", "rank"))}
        return {name: each for name, each in own.items() if operators_of(each)} or own

    @functools.cached_property
    def steps(self) -> int:
        """Steps of the process that made most, without the tail."""
        return max((count_of(each) for each in self.principals.values()), default=0)

    @functools.cached_property
    def operators(self) -> int:
        return sum(operators_of(each) for each in self.principals.values())

    @property
    def troubles(self) -> tuple[str, ...]:
        ends = [each.end() for each in self.processes.values()]
        return tuple(dict.fromkeys(words for end in ends if end is not None for words in end.troubles))


def operators_of(recording: Recording) -> int:
    return max((step.operators for step in recording.steps()), default=0)


def count_of(recording: Recording) -> int:
    return sum(step.ends_with != "end" for step in recording.steps())


def read_recorded(place: Path) -> Recorded:
    """A recording, or a folder of them. Raises TorchlintError."""
    paths = sorted(place.glob(f"*{SUFFIX}")) if place.is_dir() else [place]
    if not paths:
        raise TorchlintError(f"{place}: no recording (*{SUFFIX}) in this folder")
    try:
        return _by_role([Recording(path) for path in paths])
    except (NotARecording, msgspec.MsgspecError) as error:
        raise TorchlintError(str(error)) from None
    except OSError as error:
        raise TorchlintError(f"{place}: {error.strerror or error}") from None


def _by_role(recordings: Sequence[Recording]) -> Recorded:
    """Processes of one role are told apart by the order in which they began."""
    found: dict[str, Recording] = {}
    for each in sorted(recordings, key=lambda each: (each.header.seconds, each.path.name)):
        role, number = each.header.role, 1
        while role in found:
            number += 1
            role = f"{each.header.role}, the {number}."
        found[role] = each
    return Recorded(found)
