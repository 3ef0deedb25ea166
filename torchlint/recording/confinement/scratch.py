"""The folder that a process may write to, and its removal whatever was made of it."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

_FOLDERS = ("work", "home", "tmp")
_ATTEMPTS = 5
_PAUSE = 0.05
_LOOKED_AT = 500


def make(scratch: str) -> None:
    Path(scratch).mkdir(mode=0o700)
    for name in _FOLDERS:
        (Path(scratch) / name).mkdir()


def exceeds(scratch: str, limit: int) -> bool:
    """More than so many bytes are in files, as far as a look at some hundred of them tells."""
    total = 0
    pending = [scratch]
    seen = 0
    while pending and seen < _LOOKED_AT:
        try:
            with os.scandir(pending.pop()) as entries:
                for entry in entries:
                    seen += 1
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
                    else:
                        total += entry.stat(follow_symlinks=False).st_blocks * 512
        except OSError:  # gone, or closed to us, while we look
            continue
        if total > limit:
            return True
    return False


def remove(scratch: str) -> bool:
    """Delete the folder; True when it is gone. Others may be at the same work."""
    attempt = _remove_on_windows if os.name == "nt" else _remove
    for _ in range(_ATTEMPTS):
        if attempt(scratch):
            return True
        time.sleep(_PAUSE)
    return False


def _remove(scratch: str) -> bool:
    """One attempt.

    It may hold folders without permissions, and trees too deep for a path, for recursion or for one open file a level.
    So each folder is emptied by lifting the folders inside it to the top: nothing is ever deeper than two.
    """
    try:
        _open_up(scratch)
        top = os.open(scratch, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    try:
        lifted = (f".lifted-{number}" for number in count())
        while names := os.listdir(top):  # noqa: PTH208 - by descriptor
            for name in names:
                _remove_entry(top, name, lifted)
        Path(scratch).rmdir()
    except OSError:
        return False
    finally:
        os.close(top)
    return True


def _remove_on_windows(scratch: str) -> bool:
    for folder, _, files in os.walk(scratch):
        for name in files:
            with contextlib.suppress(OSError):
                Path(folder, name).chmod(stat.S_IWRITE)
    shutil.rmtree(scratch, ignore_errors=True)
    return not Path(scratch).exists()


def _remove_entry(top: int, name: str, lifted: Iterator[str]) -> None:
    if not stat.S_ISDIR(os.lstat(name, dir_fd=top).st_mode):
        os.unlink(name, dir_fd=top)
        return
    _open_up(name, top)
    folder = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=top)
    try:
        for inner in os.listdir(folder):  # noqa: PTH208 - by descriptor
            if stat.S_ISDIR(os.lstat(inner, dir_fd=folder).st_mode):
                _open_up(inner, folder)  # moving a folder takes the right to write to it
                os.rename(inner, next(lifted), src_dir_fd=folder, dst_dir_fd=top)
            else:
                os.unlink(inner, dir_fd=folder)
    finally:
        os.close(folder)
    os.rmdir(name, dir_fd=top)


def _open_up(path: str, folder: int | None = None) -> None:
    os.chmod(path, stat.S_IRWXU, dir_fd=folder)
