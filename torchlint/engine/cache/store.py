"""One file on disk: a head that is read at once, and bodies that are read when they are asked for."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import struct
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from torchlint.encoding import checksum, encoded

_MAGIC = b"torchlint\0\1"
_PREFIX = struct.Struct("<11s16sQ")
"""What the file is, the checksum of its head, and how long that is."""
_MOST_FILES = 8
"""In one folder: a file for each way in which a project is checked, the oldest go."""
_LARGEST = 512 * 1024 * 1024
"""Bytes of one file."""
CACHE = ".torchlint_cache"
"""At the root of a project."""
_IGNORED = "*\n"
OURS = re.compile(r"[0-9a-z]+-[0-9a-f]{16}(?:\.bin|-\d+-\d+\.tmp)")
"""The names that are given here. The folder may be a link to one of the user's, and models are `.bin` files, too."""
_ABANDONED = 3600
"""Seconds: no run writes for so long."""
_FORGOTTEN = 7 * 24 * 3600
"""Seconds after which files of another build go: two environments may take turns."""

Head = TypeVar("Head")


class Place(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Where a body lies, counted from the end of the head, and its checksum."""

    start: int
    size: int
    checksum: bytes


class Stored(Generic[Head]):
    """A file whose head was found whole. It is not kept open, so that whoever writes may replace it."""

    def __init__(self, path: Path, prefix: bytes, head: Head, begin: int) -> None:
        self._path, self._prefix, self._begin = path, prefix, begin
        self.head = head

    def body(self, place: Place) -> bytes | None:
        """None where the file is damaged, or was replaced since its head was read."""
        start = self._begin + place.start
        data = self._data[start : start + place.size]
        return data if checksum(data) == place.checksum else None

    @functools.cached_property
    def _data(self) -> bytes:
        try:
            data = self._path.read_bytes()
        except OSError:
            return b""
        return data if data.startswith(self._prefix) else b""


def read(path: Path, kind: type[Head]) -> Stored[Head] | None:
    """None for a file that is not there, is of another version, or is damaged."""
    try:
        with path.open("rb") as file:
            prefix = file.read(_PREFIX.size)
            magic, known, size = _PREFIX.unpack(prefix)
            data = file.read(size) if magic == _MAGIC and size <= _LARGEST else b""
        if checksum(data) == known:
            return Stored(path, prefix, msgspec.msgpack.decode(data, type=kind), _PREFIX.size + size)
    except (OSError, ValueError, struct.error, msgspec.MsgspecError, RecursionError):
        pass  # as if it were not there
    return None


def write(path: Path, head: object, bodies: Sequence[bytes]) -> None:
    """Put a file in the place of the one that is there, whole or not at all. What cannot be written is not kept."""
    data = encoded(head)
    if data is None or len(data) + sum(map(len, bodies)) > _LARGEST:
        return
    prefix = _PREFIX.pack(_MAGIC, checksum(data), len(data))
    with contextlib.suppress(OSError, ValueError):  # a folder that cannot be written in, a full disk
        make_folder(path.parent)
        replace_file(path, [prefix, data, *bodies])
        for old in _no_more_of_use(path):
            old.unlink()


def _no_more_of_use(path: Path) -> Iterator[Path]:
    """The oldest files beside one, those of builds that seem to be gone, and what a killed process left."""
    build, now = path.name.partition("-")[0], time.time()
    ours = [one for one in path.parent.iterdir() if OURS.fullmatch(one.name)]
    found = sorted((one for one in ours if one.suffix == ".bin"), key=_written, reverse=True)
    yield from found[_MOST_FILES:]
    for one in found[:_MOST_FILES]:
        if not one.name.startswith(f"{build}-") and _written(one) < now - _FORGOTTEN:
            yield one
    yield from (one for one in ours if one.suffix == ".tmp" and _written(one) < now - _ABANDONED)


def make_folder(folder: Path) -> None:
    """Make a folder of the cache, which git does not see. Raises OSError.

    What lies around it is the user's: nothing is written there.
    """
    if folder.is_dir():
        return
    folder.mkdir(parents=True, exist_ok=True)
    ignored = (folder.parent if folder.parent.name == CACHE else folder) / ".gitignore"
    if not ignored.exists():
        ignored.write_text(_IGNORED, encoding="utf-8")


def replace_file(path: Path, parts: Sequence[bytes]) -> None:
    """Put a file in the place of one, or of a link, whole or not at all. Raises OSError."""
    beside = path.with_name(f"{path.stem}-{os.getpid()}-{time.monotonic_ns()}.tmp")
    try:
        with beside.open("xb") as file:
            file.writelines(parts)
        os.replace(beside, path)  # noqa: PTH105
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise


def _written(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
