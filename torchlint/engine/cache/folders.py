"""Where the cache lies, and what is in it: nothing that cannot be found out again."""

from __future__ import annotations

import contextlib
import re
import shutil
from pathlib import Path

import msgspec

from torchlint.encoding import checksum
from torchlint.engine.cache.store import CACHE, OURS

CHECKS, VERDICTS = "check", "verdicts"
"""Folders of the cache: results of `check`, and what `verify` said."""
_OURS = re.compile("|".join(map(re.escape, (CHECKS, VERDICTS, ".gitignore"))))
_RESULTS = re.compile(rf"{OURS.pattern}|\.gitignore")


def folder_of(root: Path, directory: Path | None) -> Path:
    """Where results of checks of a root are kept: in its own cache, or apart from those of others in a directory."""
    if directory is None:
        return root / CACHE / CHECKS
    return directory / f"{root.name}-{checksum(str(root)).hex()[:12]}"


class Cleaned(msgspec.Struct, frozen=True):
    """What was removed of one cache."""

    folder: Path
    size: int
    """Bytes."""
    verdicts: int
    left: tuple[str, ...]
    """Files and folders that torchlint has not made: they stay, and the folder with them."""


def clean(root: Path, directory: Path | None = None) -> list[Cleaned]:
    """Remove the cache of a root, and what lies in a directory for it. Raises OSError for what cannot be removed."""
    asked = [(root / CACHE, _OURS), *([] if directory is None else [(folder_of(root, directory), _RESULTS)])]
    return [_cleaned(folder, ours) for folder, ours in asked if folder.is_dir() and not folder.is_symlink()]


def _cleaned(folder: Path, names: re.Pattern[str]) -> Cleaned:
    ours = [path for path in folder.iterdir() if names.fullmatch(path.name)]
    files = [file for one in ours for file in ([one] if one.is_file() else one.rglob("*")) if file.is_file()]
    size, verdicts = sum(file.stat().st_size for file in files), len(list((folder / VERDICTS).glob("*.json")))
    for one in ours:
        if one.is_symlink() or one.is_file():
            one.unlink()
        elif one.is_dir():
            shutil.rmtree(one)
    left = tuple(sorted(path.name for path in folder.iterdir()))
    with contextlib.suppress(OSError):
        folder.rmdir()
    return Cleaned(folder, size, verdicts, left)
