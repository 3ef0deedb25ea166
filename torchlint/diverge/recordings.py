"""Recordings as they are read: process by process, step by step, without holding more than one step."""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from torchlint.errors import TorchlintError
from torchlint.recording.journal.framing import NotARecording, decoded, frames_of, header_of, payloads_of
from torchlint.recording.journal.names import SUFFIX
from torchlint.recording.journal.records import End, Frame, Header, Names, Outside, Row, Rows, Step, Values

Stack = tuple[tuple[str, int], ...]
_IN_LIBRARY = re.compile(r"^.*[/\\](?=(?:site|dist)-packages[/\\])")
_IN_KERNEL = re.compile(r"[/\\]ipykernel_\d+(?=[/\\]\d+\.py$)")
"""A folder that each kernel has for its cells, by its process."""
_OF_FILES = ("listing", "read", "write")
_DEVICE = re.compile(r"\] (?P<device>[a-z]+)$")


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
    where: Stack
    """The stack as another machine has it, which keeps its libraries elsewhere."""

    @property
    def key(self) -> tuple[str, str, str, Stack]:
        """What makes two operators of two runs the same one."""
        return self.name, self.row.direction, self.module, self.where


@dataclass(frozen=True, slots=True)
class Event:
    """Something that entered from outside torch."""

    kind: str
    what: str
    digest: int
    stack: Stack
    row: int
    step: int


@dataclass(frozen=True, slots=True)
class Detail:
    """One step with its operators, by thread, and its events."""

    step: Step
    threads: tuple[tuple[Operator, ...], ...]
    events: tuple[Event, ...]
    is_cut: bool


@dataclass(frozen=True, slots=True)
class Summary:
    """What is known of a recording when it was read once."""

    steps: int
    """Without the tail behind the last one."""
    operators: int
    has_values: bool
    """Whether there is anything to compare but numbers that Python took out of tensors, for its logs perhaps."""
    devices: frozenset[str]
    """The kinds of devices: `cpu`, `cuda`."""
    end: End | None
    """None for a program that was killed."""


class _Entered(msgspec.Struct, array_like=True):
    """Rows of which only the events are read."""

    rows: msgspec.Raw
    outside: tuple[Outside, ...]
    is_cut: bool = False


_ENTERED, _ROWS = msgspec.msgpack.Decoder(_Entered), msgspec.msgpack.Decoder(Rows)
_STEP, _NAMES = msgspec.msgpack.Decoder(Step), msgspec.msgpack.Decoder(Names)


class Recording:
    """The file of one process. All that reads it raises TorchlintError for a file that is none, or damaged."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with _readable(path):
            self.header: Header = header_of(path)

    def steps(self) -> Iterator[Step]:
        """Yield the steps; nothing else is decoded."""
        return (frame for frame in self._frames(b"S".__eq__) if isinstance(frame, Step))

    @functools.cached_property
    def summary(self) -> Summary:
        """Counts and more, for which the file is read once."""
        steps = operators = 0
        has_values, end, devices = False, None, set[str]()
        for frame in self._frames(lambda letter: letter in b"NSE"):
            if isinstance(frame, Step):
                steps += frame.ends_with != "end"
                operators = max(operators, frame.operators)
                has_values = has_values or bool(frame.values.keys() - {"reads"})
                devices |= {each.split()[1].partition(":")[0] for each in frame.generators if each.startswith("torch ")}
            elif isinstance(frame, Names):
                devices |= {found["device"] for each in frame.texts if (found := _DEVICE.search(each)) is not None}
            elif isinstance(frame, End):
                end = frame
        return Summary(steps, operators, has_values, frozenset(devices - {"meta"}), end)

    def details(self, first_rows: int = 1) -> Iterator[Detail]:
        """Yield the steps with what was written of their events and, from one step on, of their operators."""
        names = _Names(self.path, self.header.folder)
        packed = None
        with _readable(self.path):
            for letter, payload in payloads_of(self.path, lambda letter: letter in b"NRS"):
                if letter == b"N":
                    names.add(decoded(self.path, letter, payload, _NAMES))
                elif letter == b"R":
                    packed = payload
                else:
                    step = decoded(self.path, letter, payload, _STEP)
                    yield names.detail(step, self._rows(packed, whole=step.number >= first_rows))
                    packed = None

    def _rows(self, packed: bytes | None, *, whole: bool) -> Rows:
        if packed is None:
            return Rows((), ())
        if whole:
            return decoded(self.path, b"R", packed, _ROWS)
        entered = decoded(self.path, b"R", packed, _ENTERED)
        return Rows((), entered.outside, entered.is_cut)

    def value(self, step: int, row: int, place: int) -> Values | None:
        """A tensor of a step that was kept whole."""
        found = None
        for frame in self._frames(lambda letter: letter in b"VS"):
            if isinstance(frame, Values) and (frame.row, frame.place) == (row, place):
                found = frame
            elif isinstance(frame, Step):
                if frame.number == step:
                    return found
                found = None
        return None

    def _frames(self, wanted: Callable[[bytes], bool]) -> Iterator[Frame]:
        with _readable(self.path):
            yield from frames_of(self.path, wanted)


@contextlib.contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Say in one sentence why a file cannot be read."""
    try:
        yield
    except NotARecording as error:
        raise TorchlintError(str(error)) from None
    except OSError as error:
        raise TorchlintError(f"{path}: {error.strerror or error}") from None


class _Names:
    """Texts and places by their numbers."""

    def __init__(self, path: Path, folder: str) -> None:
        self._path = path
        self._folder = folder
        self._texts: dict[int, str] = {}
        self._places: dict[int, tuple[Stack, Stack]] = {}

    def add(self, names: Names) -> None:
        self._texts.update(enumerate(names.texts, len(self._texts)))
        for each in names.places:
            if any("\0" in path for path, _ in each):
                raise NotARecording(f"{self._path}: damaged: the name of a file holds a zero byte")
            stack = tuple((_IN_KERNEL.sub("/ipykernel_0", _below(self._folder, path)), line) for path, line in each)
            where = tuple((_IN_LIBRARY.sub("", path), line) for path, line in stack)
            self._places[len(self._places)] = stack, where

    def detail(self, step: Step, rows: Rows) -> Detail:
        threads: dict[int, list[Operator]] = {}
        try:
            for number, row in enumerate(rows.rows):
                threads.setdefault(row.thread, []).append(self._operator(row, number))
            events = tuple(self._event(each, step.number) for each in rows.outside)
        except KeyError as error:
            raise NotARecording(f"{self._path}: damaged: there is no name or place {error}") from None
        return Detail(step, tuple(tuple(own) for _, own in sorted(threads.items())), events, rows.is_cut)

    def _operator(self, row: Row, number: int) -> Operator:
        texts = self._texts
        taken, given = (tuple([texts[each.kind] for each in own]) for own in (row.operands, row.results))
        stack, where = self._places[row.place]
        return Operator(texts[row.operator], stack, texts[row.module], row, number, taken, given, where)

    def _event(self, event: Outside, step: int) -> Event:
        stack, _ = self._places[event.place]
        what = _below(self._folder, event.what) if event.kind in _OF_FILES else event.what
        return Event(event.kind, what, event.digest, stack, event.row, step)


def _below(folder: str, path: str) -> str:
    """A file of the project by its name there, for another machine has the project elsewhere."""
    folder = folder.rstrip("/\\")
    is_below = folder and path.startswith(folder) and path[len(folder) :][:1] in ("/", "\\")
    return path[len(folder) + 1 :].replace("\\", "/") if is_below else path


@dataclass(frozen=True)
class Recorded:
    """The recordings of one run, by process: `main`, `rank 3`, `worker 0 of main`."""

    processes: dict[str, Recording]

    @property
    def principals(self) -> dict[str, Recording]:
        """The processes that train: not the workers of loaders, nor launchers, which run no operator."""
        own = {name: each for name, each in self.processes.items() if name.startswith(("main", "rank"))}
        return {name: each for name, each in own.items() if each.summary.operators} or own

    @functools.cached_property
    def steps(self) -> int:
        """Steps of the process that made most, without the tail."""
        return max((each.summary.steps for each in self.principals.values()), default=0)

    @functools.cached_property
    def operators(self) -> int:
        return sum(each.summary.operators for each in self.principals.values())

    @property
    def troubles(self) -> tuple[str, ...]:
        ends = [each.summary.end for each in self.processes.values()]
        return tuple(dict.fromkeys(words for end in ends if end is not None for words in end.troubles))


def read_recorded(place: Path) -> Recorded:
    """A recording, or a folder of them. Raises TorchlintError."""
    with _readable(place):
        paths = sorted(place.glob(f"*{SUFFIX}")) if place.is_dir() else [place]
    if not paths:
        raise TorchlintError(f"{place}: no recording (*{SUFFIX}) in this folder")
    return _by_role([Recording(path) for path in paths])


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
