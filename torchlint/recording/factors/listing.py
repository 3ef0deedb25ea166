"""Folders listed in sorted order, or in the reverse of it."""

from __future__ import annotations

import os

from torchlint.recording.factors.replacing import renew_names, replace

TYPE_CHECKING = False  # `typing` takes a while to import
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


class Entries:
    """What `os.scandir` returns: an iterator of entries that is closed, by itself or by `with`."""

    def __init__(self, entries: list[os.DirEntry[Any]]) -> None:
        self._entries: Iterator[os.DirEntry[Any]] = iter(entries)

    def __iter__(self) -> Entries:
        return self

    def __next__(self) -> os.DirEntry[Any]:
        return next(self._entries)

    def __enter__(self) -> Entries:  # noqa: PYI034 - Python 3.10 has no `Self`
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._entries = iter(())


def sort_listings(*, backwards: bool) -> None:
    """Make `os.listdir` and `os.scandir` sort, and with them `os.walk`, `glob` and `pathlib`."""
    plain_list, plain_scan = os.listdir, os.scandir

    def listdir(path: Any = None) -> list[Any]:  # noqa: ANN401 - text, bytes, a number or a path
        return sorted(plain_list(path), reverse=backwards)

    def scandir(path: Any = None) -> Entries:  # noqa: ANN401
        with plain_scan(path) as entries:
            return Entries(sorted(entries, key=lambda entry: entry.name, reverse=backwards))

    replace(os, "listdir", lambda _: listdir)
    replace(os, "scandir", lambda _: scandir)
    for plain, name in ((plain_list, "listdir"), (plain_scan, "scandir")):
        if plain in os.supports_fd:  # `shutil` asks whether they take a number
            os.supports_fd.add(getattr(os, name))
    renew_names({plain_list: os.listdir, plain_scan: os.scandir})
