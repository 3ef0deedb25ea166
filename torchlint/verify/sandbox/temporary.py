"""Temporary folders of a run, and those that runs which were killed could not remove."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import tempfile
from pathlib import Path
from types import TracebackType

from torchlint.errors import TorchlintError
from torchlint.recording.confinement import scratch

if sys.platform != "win32":
    import fcntl

_PREFIX = "torchlint-"
_LOCK, _NEW_LOCK = "in-use", "in-use.new"
"""A file that the run holds locked while it lives. It gets its name when it is locked: no other sees it before."""


def temporary_folder() -> str:
    """The system's folder for temporary files. TorchlintError where none can be written to."""
    try:
        return tempfile.gettempdir()
    except FileNotFoundError as error:
        raise TorchlintError(f"{error.strerror}: set TMPDIR to a folder that can be written to") from None


class OwnFolder:
    """A folder of this run, from its making until `close`. The first thing is to remove those of dead runs."""

    def __init__(self, kind: str = "") -> None:
        place = temporary_folder()
        _remove_abandoned(place)
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX + kind, dir=place))
        self.lock = _locked(self.path / _NEW_LOCK)
        """The descriptor of the locked file: who inherits it keeps the folder, too. None without locks of files."""
        if self.lock is not None:
            (self.path / _NEW_LOCK).rename(self.path / _LOCK)

    def close(self) -> None:
        scratch.remove(str(self.path))
        if self.lock is not None:
            os.close(self.lock)

    def __enter__(self) -> OwnFolder:  # noqa: PYI034 - Python 3.10 has no Self
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _locked(path: Path, *, create: bool = True) -> int | None:
    """The descriptor of a file that is locked now; None where another process holds it, or nothing can be locked."""
    if sys.platform == "win32":
        return None
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | (os.O_CREAT if create else 0), 0o600)
    except OSError:  # it is not there
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def _remove_abandoned(place: str) -> None:
    """The folders whose run is dead: they hold the file that it had locked, and nobody has it locked now."""
    if sys.platform == "win32":
        return
    with contextlib.suppress(OSError), os.scandir(place) as entries:
        for entry in entries:
            if not entry.name.startswith(_PREFIX) or not _is_own(entry):
                continue
            lock = _locked(Path(entry.path, _LOCK), create=False)
            if lock is not None:
                scratch.remove(entry.path)
                os.close(lock)


def _is_own(entry: os.DirEntry[str]) -> bool:
    """A folder itself, no link to one, of the user who runs this."""
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:  # gone meanwhile
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
