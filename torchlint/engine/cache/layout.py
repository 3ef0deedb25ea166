"""What is known of one project, and how it lies in a file."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from torchlint.encoding import checksum
from torchlint.engine.cache import store
from torchlint.engine.cache.checksums import KnownFile

if TYPE_CHECKING:
    from torchlint.engine.analysis import FileResult

Body = Callable[[], bytes | None]
"""Gives what was encoded; None where the file that holds it is damaged."""


Asked = tuple[str, bytes]
"""A file, and what it was asked: `CHECK`, `SUMMARY`, `INTERFACE`, or the question of a judge."""
CHECK, SUMMARY, INTERFACE = b"check", b"summary", b"interface"
_MOST_ANSWERS = 50_000


class Kept(msgspec.Struct, frozen=True):
    """What a file said; in `consulted` the bits of the other files that it consulted are set.

    In `gone_through` are those of which it asked for all names.
    """

    consulted: int
    gone_through: int
    body: Body


class Known(msgspec.Struct):
    """What is known of one project."""

    surroundings: bytes = b""
    files: Mapping[str, KnownFile] = msgspec.field(default_factory=dict)
    said: dict[Asked, Kept] = msgspec.field(default_factory=dict)
    """What was used last stands last."""
    reports: dict[bytes, Body] = msgspec.field(default_factory=dict)
    """By what they hang on, the newest first."""
    at_hand: dict[Asked, tuple[Kept, FileResult]] = msgspec.field(default_factory=dict)
    """Results as objects, for a process that will ask again."""
    texts: dict[str, tuple[bytes, bytes]] = msgspec.field(default_factory=dict)
    """The checksum and the bytes of each file that judges looked into; likewise."""
    made: dict[str, tuple[object, object]] = msgspec.field(default_factory=dict)
    """What judges made of all files, by name, with what it was made of; for such a process, too."""


class _Entry(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Where what a file said lies; the file is one of the paths, `consulted` and `gone_through` are two of the sets."""

    path: int
    asked: bytes
    consulted: int
    gone_through: int
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
        said = {
            (head.paths[one.path], one.asked): Kept(
                sets[one.consulted], sets[one.gone_through], functools.partial(stored.body, one.place)
            )
            for one in head.entries
        }
    except IndexError:
        return Known()
    reports: dict[bytes, Body] = {key: functools.partial(stored.body, place) for key, place in head.reports}
    return Known(head.surroundings, head.files, said, reports)


def write_known(file: Path, known: Known, paths: Sequence[str]) -> None:
    """Put a file in the place of the one that is there. What cannot be read any more is left out."""
    numbers = {path: number for number, path in enumerate(paths)}
    bodies = _Bodies()
    sets: dict[int, int] = {}

    def number_of(one: int) -> int:
        return sets.setdefault(one, len(sets))

    entries = [
        _Entry(numbers[path], asked, number_of(kept.consulted), number_of(kept.gone_through), place)
        for (path, asked), kept in list(known.said.items())[-_MOST_ANSWERS:]
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
