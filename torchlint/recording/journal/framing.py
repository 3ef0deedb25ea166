"""The file of a recording: a line that names it, then frames. One that is cut off is read up to the cut.

A frame is a letter for its kind, the length of its payload as four bytes, the smallest first, and the payload in
MessagePack.
"""

from __future__ import annotations

import os
import re
import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, TypeVar

import msgspec

from torchlint.recording.journal.records import KINDS, LETTERS, PACKED, VERSION, Frame, Header

_MAGIC = b"TLREC %d\n" % VERSION
_HEAD = struct.Struct("<cI")
_FASTEST = 1
_ANY_MAGIC = re.compile(rb"TLREC (\d+)")
_LARGEST = 256 << 20
"""Bytes of a frame that is unpacked."""
_DECODERS = {letter: msgspec.msgpack.Decoder(kind) for letter, kind in KINDS.items()}
Decoded = TypeVar("Decoded")


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
    for letter, payload in payloads_of(path, wanted):
        yield decoded(path, letter, payload, _DECODERS[letter])


def payloads_of(path: Path, wanted: Callable[[bytes], bool]) -> Iterator[tuple[bytes, bytes]]:
    """Yield letter and payload of each frame that is wanted, for `decoded`.

    Raises NotARecording, and OSError.
    """
    if not path.is_file():  # a pipe would be waited for
        raise NotARecording(f"{path}: no such file" if not path.exists() else f"{path}: no file")
    with path.open("rb") as file:
        left = os.fstat(file.fileno()).st_size - len(_MAGIC)
        _refuse_other(path, file.read(len(_MAGIC)))
        while len(head := file.read(_HEAD.size)) == _HEAD.size:
            letter, length = _HEAD.unpack(head)
            if letter not in KINDS:
                raise NotARecording(
                    f"{path}: damaged: there is no frame `{letter!r}` (byte {file.tell() - _HEAD.size})"
                )
            left -= _HEAD.size + length
            if left < 0:  # the program was killed while it was written
                return
            if wanted(letter):
                yield letter, file.read(length)
            else:
                file.seek(length, os.SEEK_CUR)


def _refuse_other(path: Path, begin: bytes) -> None:
    if begin == _MAGIC:
        return
    if not begin:
        raise NotARecording(f"{path}: the file is empty")
    version = _ANY_MAGIC.match(begin)
    if version is None:
        raise NotARecording(f"{path}: no recording of torchlint")
    raise NotARecording(
        f"{path}: a recording of version {version[1].decode()}, of which this torchlint (it reads version {VERSION}) "
        f"knows nothing; the newest torchlint reads it"
    )


def header_of(path: Path) -> Header:
    """The first frame."""
    for frame in frames_of(path):
        if isinstance(frame, Header):
            return frame
        break
    raise NotARecording(f"{path}: a recording without a beginning")


def decoded(path: Path, letter: bytes, payload: bytes, decoder: msgspec.msgpack.Decoder[Decoded]) -> Decoded:
    """The frame in a payload. Raises NotARecording."""
    try:
        return decoder.decode(_unpacked(payload) if letter in PACKED else payload)
    except (zlib.error, msgspec.MsgspecError, UnicodeDecodeError, RecursionError, MemoryError, OverflowError) as error:
        raise NotARecording(f"{path}: damaged: {str(error) or type(error).__name__}") from None


def _unpacked(payload: bytes) -> bytes:
    """What was compressed, and never more than a recorder writes: a few bytes can stand for gigabytes."""
    unpacking = zlib.decompressobj()
    plain = unpacking.decompress(payload, _LARGEST)
    if not unpacking.eof:
        raise zlib.error("a frame is cut short" if not unpacking.unconsumed_tail else "a frame is too large")
    return plain
