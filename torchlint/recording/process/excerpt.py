"""The head and the tail of a stream that may be endless."""

from __future__ import annotations


class Excerpt:
    def __init__(self, limit: int) -> None:
        self._half = max(limit // 2, 1)
        self._head = bytearray()
        self._tail = bytearray()
        self._left_out = 0

    def feed(self, data: bytes) -> None:
        room = self._half - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        # Cut in large steps: each cut moves what is kept.
        if len(self._tail) > 4 * self._half:
            self._cut()

    @property
    def text(self) -> str:
        self._cut()
        head, tail = (part.decode(errors="replace") for part in (self._head, self._tail))
        return f"{head}\n[{self._left_out} bytes left out]\n{tail}" if self._left_out else head + tail

    def _cut(self) -> None:
        surplus = max(len(self._tail) - self._half, 0)
        del self._tail[:surplus]
        self._left_out += surplus
