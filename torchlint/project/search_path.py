"""Folders that programs put on `sys.path` themselves: `sys.path.append("core")`."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator

_ADDED = re.compile(rb"^[ \t]*\"?[ \t]*(?:\w+\.)?path\.(?:append|insert)\((?P<arguments>[^\n]*)", re.MULTILINE)
"""Whatever `sys` is imported as. In a notebook a line of code begins with a quotation mark."""
_TEXT = re.compile(rb"[\"']([\w./-]+?)\\?[\"']")


def added_folders(sources: Iterable[tuple[str, bytes]], paths: Collection[str]) -> tuple[str, ...]:
    """The project's folders that any source adds by name, counted from itself or from the root, sorted."""
    folders = {folder for path in paths for folder in _above(path)}
    named = {folder for path, data in sources for folder in _named(path, data)}
    return tuple(sorted(named & folders))


def _named(path: str, data: bytes) -> Iterator[str]:
    for match in _ADDED.finditer(data) if b"path." in data else ():
        parts = [part.decode() for part in _TEXT.findall(match["arguments"])]
        if parts:
            for base in (posixpath.dirname(path), ""):
                yield posixpath.normpath(posixpath.join(base, *parts))


def _above(path: str) -> Iterator[str]:
    folder = posixpath.dirname(path)
    while folder:
        yield folder
        folder = posixpath.dirname(folder)
