"""The file of a recording: a line that names it, then frames. One that is cut off is read up to the cut.

A frame is a letter for its kind, the length of its payload as four bytes, the smallest first, and the payload in
MessagePack.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from torchlint.recording.journal.records import KINDS, LETTERS, PACKED, VERSION, Frame, Header

_MAGIC = b"TLREC %d\n" % VERSION
_HEAD = struct.Struct("<cI")
_FASTEST = 1


class NotARecording(Exception):  # noqa: N818 - a statement about the file
    """The file does not begin as a recording does, or is of another version."""


class Writer:
    """Writes frames to a file; each one is given to the system at once, so that a crash loses none."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: BinaryIO = path.open("xb", buffering=0)
        self._encoder = msgspec.msgpack.Encoder()
        self.size = self._file.write(_MAGIC)

    def write(self, *frames: Frame) -> None:
        """Write all in one piece."""
        whole = b"".join(map(self._encoded, frames))
        self.size += self._file.write(whole)

    def close(self) -> None:
        self._file.close()

    def _encoded(self, frame: Frame) -> bytes:
        letter = LETTERS[type(frame)]
        payload = self._encoder.encode(frame)
        if letter in PACKED:
            payload = zlib.compress(payload, _FASTEST)
        return _HEAD.pack(letter, len(payload)) + payload


def frames_of(path: Path, wanted: Callable[[bytes], bool] = lambda _: True) -> Iterator[Frame]:
    """Yield the frames of a recording whose letter is wanted; the others are skipped unread.

    Raises NotARecording, and OSError.
    """
    with path.open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise NotARecording(f"{path}: no recording of this version of torchlint")
        while len(head := file.read(_HEAD.size)) == _HEAD.size:
            letter, length = _HEAD.unpack(head)
            if letter not in KINDS:
                raise NotARecording(f"{path}: damaged at byte {file.tell() - _HEAD.size}")
            if not wanted(letter):
                file.seek(length, 1)
                continue
            payload = file.read(length)
            if len(payload) < length:  # the program was killed while it was written
                return
            yield _decoded(path, letter, payload)


def header_of(path: Path) -> Header:
    """The first frame."""
    for frame in frames_of(path, b"H".__eq__):
        if isinstance(frame, Header):
            return frame
    raise NotARecording(f"{path}: a recording without a beginning")


def _decoded(path: Path, letter: bytes, payload: bytes) -> Frame:
    try:
        plain = zlib.decompress(payload) if letter in PACKED else payload
        return msgspec.msgpack.decode(plain, type=KINDS[letter])
    except (zlib.error, msgspec.MsgspecError) as error:
        raise NotARecording(f"{path}: damaged: {error}") from None
