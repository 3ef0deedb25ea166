"""Directory listings in an order of our choice."""

from __future__ import annotations

import contextlib
import glob
import os
import pathlib
import random
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from typing_extensions import Self

_DEEPEST_CALLER = 12


class OrderedListings:
    """While it is entered, listings come sorted (order 0), backwards (1) or shuffled (2 and more)."""

    def __init__(self, order: int, path: str, lines: range) -> None:
        self.listed: dict[str, int] = {}
        """What the flagged lines listed, and how many entries there were."""
        self._order = order
        self._path = path
        self._lines = lines
        self._undo = contextlib.ExitStack()

    def __enter__(self) -> Self:
        for owner, name in ((os, "listdir"), (glob, "glob")):
            self._replace(owner, name, self._listing)
        self._replace(glob, "iglob", self._iterating)
        self._replace(os, "scandir", self._scanning)
        for name in ("iterdir", "glob", "rglob"):
            self._replace(pathlib.Path, name, self._iterating)
        accessor = getattr(pathlib, "_NormalAccessor", None)  # Python 3.10 keeps functions of its own
        if accessor is not None:
            self._replace(accessor, "scandir", lambda original: staticmethod(self._scanning(original)))
        return self

    def __exit__(self, *_: object) -> None:
        self._undo.close()

    def _replace(self, owner: Any, name: str, wrap: Callable[[Any], Any]) -> None:  # noqa: ANN401 - module or class
        original = getattr(owner, name)
        setattr(owner, name, wrap(original))
        self._undo.callback(setattr, owner, name, original)

    def _listing(self, original: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
        return lambda *args, **kwargs: self._ordered(original(*args, **kwargs), args, str)

    def _iterating(self, original: Callable[..., Iterable[Any]]) -> Callable[..., Iterator[Any]]:
        return lambda *args, **kwargs: iter(self._ordered(original(*args, **kwargs), args, str))

    def _scanning(self, original: Callable[..., Any]) -> Callable[..., _Scan]:
        def scan(*args: Any) -> _Scan:  # noqa: ANN401 - as os.scandir has it
            with original(*args) as entries:
                return _Scan(self._ordered(entries, args, lambda entry: str(entry.name)))

        return scan

    def _ordered(self, entries: Iterable[Any], args: tuple[Any, ...], key: Callable[[Any], str]) -> list[Any]:
        """Listings of other lines are sorted: only those of the flagged ones may change the result."""
        found = sorted(entries, key=key)
        if not self._is_called_by_flagged_lines():
            return found
        folder = " ".join(str(argument) for argument in args) or "."
        self.listed[folder] = max(len(found), self.listed.get(folder, 0))
        if self._order == 1:
            found.reverse()
        elif self._order > 1:
            random.Random(self._order).shuffle(found)  # noqa: S311 - an order, not a secret
        return found

    def _is_called_by_flagged_lines(self) -> bool:
        frame = sys._getframe(2)  # noqa: SLF001 - the interpreter's one way to see the caller
        for _ in range(_DEEPEST_CALLER):
            if frame.f_code.co_filename == self._path and frame.f_lineno in self._lines:
                return True
            if frame.f_back is None:
                return False
            frame = frame.f_back
        return False


class _Scan:
    """What `os.scandir` gives: an iterator that can be closed."""

    def __init__(self, entries: list[Any]) -> None:
        self._entries = iter(entries)

    def __iter__(self) -> _Scan:
        return self

    def __next__(self) -> Any:  # noqa: ANN401 - an os.DirEntry
        return next(self._entries)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Nothing is open: the entries were read at once."""
