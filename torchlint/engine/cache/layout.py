"""What is known of one project, and how it lies in a file."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import msgspec

from torchlint.engine.cache import store
from torchlint.engine.cache.checksums import KnownFile, checksum
from torchlint.engine.project_context import Job

Body = Callable[[], bytes | None]
"""Gives what was encoded; None where the file that holds it is damaged."""
Told = TypeVar("Told")


@dataclass(frozen=True, slots=True)
class KeptResult:
    """One result; in `consulted` the bits of the other files that it consulted are set."""

    consulted: int
    body: Body


@dataclass(slots=True)
class Known:
    """What is known of one project."""

    surroundings: bytes = b""
    files: Mapping[str, KnownFile] = field(default_factory=dict)
    results: dict[Job, KeptResult] = field(default_factory=dict)
    reports: dict[bytes, Body] = field(default_factory=dict)
    """By what they hang on, the newest first."""


class _Entry(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Where the result of a file lies; the file is one of the paths, and `consulted` one of the sets."""

    path: int
    is_summary: bool
    consulted: int
    place: store.Place


class _Head(msgspec.Struct, frozen=True, array_like=True, gc=False):
    surroundings: bytes
    paths: tuple[str, ...]
    files: dict[str, KnownFile]
    sets: tuple[bytes, ...]
    """Of paths, a bit for each."""
    entries: tuple[_Entry, ...]
    reports: tuple[tuple[bytes, store.Place], ...]


def read_known(file: Path) -> Known:
    """What a file holds: nothing where there is none, or it is damaged."""
    stored = store.read(file, _Head)
    if stored is None:
        return Known()
    head = stored.head
    sets = [int.from_bytes(one, "little") for one in head.sets]
    try:
        results = {
            Job(head.paths[one.path], one.is_summary): KeptResult(
                sets[one.consulted], functools.partial(stored.body, one.place)
            )
            for one in head.entries
        }
    except IndexError:
        return Known()
    reports: dict[bytes, Body] = {key: functools.partial(stored.body, place) for key, place in head.reports}
    return Known(head.surroundings, head.files, results, reports)


def write_known(file: Path, known: Known, paths: Sequence[str]) -> None:
    """Put a file in the place of the one that is there. What cannot be read any more is left out."""
    numbers = {path: number for number, path in enumerate(paths)}
    bodies = _Bodies()
    sets: dict[int, int] = {}
    entries = [
        _Entry(numbers[job.path], job.summary_only, sets.setdefault(kept.consulted, len(sets)), place)
        for job, kept in known.results.items()
        if (place := bodies.add(kept.body())) is not None
    ]
    reports = [(key, place) for key, body in known.reports.items() if (place := bodies.add(body())) is not None]
    size = len(paths) // 8 + 1
    packed = tuple(one.to_bytes(size, "little") for one in sets)
    head = _Head(known.surroundings, tuple(paths), dict(known.files), packed, tuple(entries), tuple(reports))
    store.write(file, head, bodies.all)


class _Bodies:
    """What is written behind the head."""

    def __init__(self) -> None:
        self.all: list[bytes] = []
        self._end = 0

    def add(self, body: bytes | None) -> store.Place | None:
        if body is None:
            return None
        place = store.Place(self._end, len(body), checksum(body))
        self.all.append(body)
        self._end += len(body)
        return place


def encoded(told: object) -> bytes | None:
    """None for what no file can hold: an integer of more than 64 bits, half of a surrogate pair, a very deep tree."""
    try:
        return msgspec.msgpack.encode(told)
    except (OverflowError, UnicodeError, RecursionError):
        return None


def decoded(body: bytes | None, kind: type[Told]) -> Told | None:
    """None for what is no such thing."""
    try:
        return None if body is None else msgspec.msgpack.decode(body, type=kind)
    except (msgspec.MsgspecError, RecursionError):
        return None
