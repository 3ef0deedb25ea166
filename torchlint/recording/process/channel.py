"""Framed messages through a pipe that user code runs beside.

Each frame begins with a nonce, so that what anything else writes into the pipe is never read as a message, and the last
one is an end marker, so that a process which merely stopped is never taken for one that finished.
"""

from __future__ import annotations

import os
import struct
import threading
from collections.abc import Iterator
from typing import Literal

import msgspec

from torchlint.recording.confinement.job import End

NONCE_BYTES = 16
LARGEST_MESSAGE = 64 << 20
LARGEST_TOTAL = 256 << 20
_LONGEST_WORDS = 2000

Kind = Literal["request", "supervisor", "message", "failure", "memory", "end", "report"]
_KINDS: tuple[Kind, ...] = ("request", "supervisor", "message", "failure", "memory", "end", "report")
_ENDS: dict[Kind, End] = {"end": "done", "failure": "crash", "memory": "memory"}
_HEADER = struct.Struct(f"<{NONCE_BYTES}sBI")


class ChannelError(Exception):
    """What arrived, or was to be sent, is no message of this channel."""


class Frame(msgspec.Struct, frozen=True):
    kind: Kind
    payload: bytes

    @property
    def closing(self) -> tuple[End, str] | None:
        """What a frame that is the last one says of the end."""
        end = _ENDS.get(self.kind)
        return (end, self.payload.decode(errors="replace")) if end else None


def encode(nonce: bytes, kind: Kind, payload: bytes = b"") -> bytes:
    if len(payload) > LARGEST_MESSAGE:
        raise ChannelError(f"a message of {len(payload)} bytes; at most {LARGEST_MESSAGE} can be sent")
    return _HEADER.pack(nonce, _KINDS.index(kind), len(payload)) + payload


class Decoder:
    """Puts frames together from pieces of any size."""

    def __init__(self, nonce: bytes) -> None:
        self._nonce = nonce
        self._pending = bytearray()
        self._total = 0

    @property
    def is_midway(self) -> bool:
        """Part of a frame has arrived."""
        return bool(self._pending)

    def feed(self, data: bytes) -> Iterator[Frame]:
        self._pending += data
        self._total += len(data)
        if self._total > LARGEST_TOTAL:
            raise ChannelError(f"more than {LARGEST_TOTAL >> 20} MiB came through the result channel")
        start = 0
        try:
            while len(self._pending) - start >= _HEADER.size:
                kind, length = self._header(start)
                end = start + _HEADER.size + length
                if len(self._pending) < end:
                    break
                payload = bytes(self._pending[start + _HEADER.size : end])
                start = end
                yield Frame(kind, payload)
        finally:
            del self._pending[:start]

    def _header(self, start: int) -> tuple[Kind, int]:
        nonce, kind, length = _HEADER.unpack_from(self._pending, start)
        if nonce != self._nonce or kind >= len(_KINDS) or length > LARGEST_MESSAGE:
            raise ChannelError("something else wrote into the result channel")
        return _KINDS[kind], length


class Writer:
    """The child's end of the channel.

    It belongs to one process: what that process forks must not report in its name. It also looks, before each write,
    whether its descriptor is still the pipe: user code may have closed it and opened a file that got the same number.
    """

    def __init__(self, descriptor: int, nonce: bytes) -> None:
        self._descriptor = descriptor
        self._nonce = nonce
        self._owner = os.getpid()
        self._identity = _identity(descriptor)
        self._lock = threading.Lock()

    @property
    def is_ours(self) -> bool:
        return os.getpid() == self._owner

    def message(self, payload: bytes) -> None:
        self._write("message", payload)

    def failure(self, words: str) -> None:
        self._write("failure", _short(words))

    def out_of_memory(self, words: str) -> None:
        self._write("memory", _short(words))

    def end(self) -> None:
        self._write("end", b"")

    def _write(self, kind: Kind, payload: bytes) -> None:
        if not self.is_ours:
            raise ChannelError("a process that the target started must not write its result")
        frame = memoryview(encode(self._nonce, kind, payload))
        with self._lock:
            if _identity(self._descriptor) != self._identity:
                raise ChannelError("the result channel was closed by the target")
            while frame:
                frame = frame[os.write(self._descriptor, frame) :]


def _short(words: str) -> bytes:
    return words.encode(errors="replace")[:_LONGEST_WORDS]


def _identity(descriptor: int) -> tuple[int, int] | None:
    try:
        status = os.fstat(descriptor)
    except OSError:
        return None
    return status.st_dev, status.st_ino
