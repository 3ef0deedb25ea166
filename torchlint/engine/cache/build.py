"""Which torchlint this is: another one may answer differently, so it reads nothing of what this one kept."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
import xxhash

import torchlint
from torchlint.catalogue.load import catalogue_root

_PACKAGE = Path(torchlint.__file__).parent


@functools.cache
def build() -> str:
    """A checksum of the version, of Python, and of all that an installation or an edit of the source changes."""
    installed = [_PACKAGE.parent, Path(msgspec.__file__).parents[1]]
    stamps = [*_stamps(_files_below(_PACKAGE, ".py")), *_stamps(_files_below(Path(str(catalogue_root())), ".toml"))]
    told = (torchlint.__version__, sys.version, stamps, list(_stamps(map(str, installed))))
    return xxhash.xxh3_64_hexdigest(repr(told).encode())


def _files_below(folder: Path, suffix: str) -> Iterator[str]:
    for above, folders, names in os.walk(folder):
        folders.sort()
        yield from (os.path.join(above, name) for name in sorted(names) if name.endswith(suffix))  # noqa: PTH118


def _stamps(paths: Iterable[str]) -> Iterator[tuple[str, int, int]]:
    for path in paths:
        status = os.stat(path)  # noqa: PTH116 - some 900 files
        yield path, status.st_mtime_ns, status.st_size
