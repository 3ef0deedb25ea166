"""Writes files whole: reports, baselines, sources with new comments."""

from __future__ import annotations

import os
from pathlib import Path

from torchlint.errors import ConfigError

_SOURCES = frozenset({".py", ".pyw", ".ipynb"})


def write_whole(path: Path, text: str, option: str = "--output") -> None:
    """Write all of it or nothing: what stood there before survives a full disk. `option` named the file."""
    if path.suffix.lower() in _SOURCES:
        raise ConfigError(f"{option}: {path} is named like a source file, which would be lost")
    try:
        # A path that is no text (a lone surrogate) is written escaped rather than not at all.
        replace_file(path, text.encode(errors="backslashreplace"))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"{option}: {path} cannot be written: {reason}") from error


def replace_file(path: Path, data: bytes, *, keeps_owner: bool = False) -> None:
    """Put these bytes in the place of a file, all or none, with the mode it had. Raises OSError or ValueError."""
    if path.exists() and not path.is_file():  # a device or a pipe is no file to be replaced
        path.write_bytes(data)
        return
    target = path.resolve()  # a link stays one
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        beside.write_bytes(data)
        if target.exists():
            status = target.stat()
            if keeps_owner:
                _give(beside, status)
            beside.chmod(status.st_mode)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


def _give(path: Path, status: os.stat_result) -> None:
    """Give a file to the owner of another. Raises PermissionError where that is not allowed."""
    own = path.stat()
    if hasattr(os, "chown") and (own.st_uid, own.st_gid) != (status.st_uid, status.st_gid):
        os.chown(path, status.st_uid, status.st_gid)


def replace_source(path: Path, before: bytes, after: bytes) -> None:
    """Put a source in the place of what was read of it. Raises OSError or ValueError, and then nothing is lost.

    A file that is not what it was when it was read is somebody's newer work, and stays.
    """
    if not (path.stat().st_mode & 0o222 and os.access(path, os.W_OK)):
        raise PermissionError(13, "the file is read-only")
    if path.read_bytes() != before:
        raise OSError(0, "it has changed since it was read")
    replace_file(path, after, keeps_owner=True)
