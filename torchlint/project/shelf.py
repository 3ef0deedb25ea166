"""Syntax trees that stay at hand: a tree takes some hundred times the room of its source."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts


class Shelf:
    """Facts of files by path, of up to so many characters of source: those that were asked last."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._facts: dict[str, FileFacts] = {}
        """The one that was asked last at the end."""
        self._spare: dict[str, None] = {}
        """Paths of those that go first, the oldest first."""
        self._size = 0
        self.is_full = False
        """Whether facts had to go."""

    def get(self, path: str) -> FileFacts | None:
        facts = self._facts.pop(path, None)
        if facts is not None:
            self._facts[path] = facts
        return facts

    def take(self, path: str) -> FileFacts | None:
        """The facts of a file, which goes from the shelf."""
        facts = self._facts.pop(path, None)
        self._size -= 0 if facts is None else _size_of(facts)
        self._spare.pop(path, None)
        return facts

    def put(self, facts: FileFacts, *, is_spare: bool = False) -> Iterator[FileFacts]:
        """Add the facts of a file, and give those that have to go: what is spare first."""
        self.take(facts.path)
        self._facts[facts.path] = facts
        self._size += _size_of(facts)
        if is_spare:
            self._spare[facts.path] = None
        while self._size > self._most and len(self._facts) > 1:
            oldest = self.take(next(iter(self._spare or self._facts)))
            assert oldest is not None
            self.is_full = True
            yield oldest

    def clear(self) -> None:
        for facts in self._facts.values():
            facts.forget()
        self._facts.clear()
        self._spare.clear()
        self._size = 0


def _size_of(facts: FileFacts) -> int:
    """Characters; an interface consists of empty lines, mostly."""
    return len(facts.source.text) - len(facts.source.lines)
