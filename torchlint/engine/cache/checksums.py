"""Checksums of a project's files: a file that looks as it did is not read again."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from torchlint.encoding import checksum
from torchlint.project.search_path import Hints, hints_in

if TYPE_CHECKING:
    from torchlint.engine.project_context import ProjectContext

_JUST_NOW = 3_000_000_000
"""Nanoseconds. A file that was written so shortly ago may be written again without looking different."""


class Look(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """How a file looks from outside; `changed` is when anything of it changed, which no program can set back."""

    size: int
    modified: int
    changed: int
    inode: int


class KnownFile(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A file as it was; without a look it is read again."""

    checksum: bytes
    look: Look | None = None
    exports: bytes = b""
    """What it shows to other files; empty where that was not asked, or where it cannot be read."""
    hints: Hints | None = None
    """What it says of where modules are looked for, where that was asked."""


def look_at(path: str) -> Look | None:
    """None for a file that is not there."""
    try:
        status = os.stat(path)  # noqa: PTH116 - every file of a project passes
    except (OSError, ValueError):
        return None
    return Look(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


class Checksums:
    """Of the sources of a project, and of the files beside them, as they are now.

    What a notebook writes hangs on the whole notebook. Unsaved text counts as it is.
    """

    def __init__(self, context: ProjectContext, known: Mapping[str, KnownFile]) -> None:
        self._context = context
        self.files: dict[str, KnownFile] = {}
        for path in (*context.paths, *map(str, context.beside)):
            if path in context.contents:
                self.files[path] = _same(known.get(path), checksum(context.contents[path]), None)
            elif path not in context.written:
                self.files[path] = self._known(path, known.get(path))
        for path, held in context.written.items():
            written = context.read(path) + self.files[held.notebook].checksum
            self.files[path] = _same(known.get(path), checksum(written), None)

    def settled(self) -> dict[str, KnownFile]:
        """The files that have not changed since: those that were just written lose their look."""
        settled, before = {}, time.time_ns() - _JUST_NOW
        for path, file in self.files.items():
            if file.look is not None and look_at(self._place(path)) != file.look:
                continue
            is_new = file.look is not None and max(file.look.modified, file.look.changed) > before
            settled[path] = replace(file, look=None) if is_new else file
        return settled

    def set_exports(self, path: str, exports: bytes) -> None:
        self.files[path] = replace(self.files[path], exports=exports)

    def hints(self) -> Iterator[tuple[str, Hints]]:
        """What each source says of where modules are looked for; those that have changed are read."""
        for path in self._context.paths:
            file = self.files[path]
            if file.hints is None:
                file = self.files[path] = replace(file, hints=hints_in(path, self._context.read(path)))
            assert file.hints is not None
            yield path, file.hints

    def _known(self, path: str, known: KnownFile | None) -> KnownFile:
        place = self._place(path)
        look = look_at(place)
        if known is not None and look is not None and known.look == look:
            return known
        # What is no source is asked whatever its size: lock files are large.
        content = _content(place, sys.maxsize if os.path.isabs(path) else self._context.settings.max_file_size)  # noqa: PTH117
        return _same(known, content, look)

    def _place(self, path: str) -> str:
        return os.path.join(self._context.root, path)  # noqa: PTH118 - as above


def _same(known: KnownFile | None, content: bytes, look: Look | None) -> KnownFile:
    """A file with this content, and with what is known of it if that is the content that it had."""
    return replace(known, look=look) if known is not None and known.checksum == content else KnownFile(content, look)


def _content(place: str, largest: int) -> bytes:
    """The checksum of a file; of one that is too large to be checked, of its size; else of why it cannot be read."""
    try:
        with open(place, "rb", buffering=0) as file:  # noqa: PTH123 - as above
            size = os.fstat(file.fileno()).st_size
            return checksum(file.read()) if size <= largest else checksum(f"{size} bytes")
    except (OSError, ValueError) as error:
        return checksum(f"{type(error).__name__}: {error}")
