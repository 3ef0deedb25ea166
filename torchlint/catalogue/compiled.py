"""The TOML files of a folder as one file that is read fast. It is made when the package is built (hatch_build.py).

Each entry counts as long as its TOML file is the one that it was made of; without the file TOML is read.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import tomli
import xxhash

if TYPE_CHECKING:
    if sys.version_info >= (3, 11):
        from importlib.resources.abc import Traversable
    else:
        from importlib.abc import Traversable

NAME = "compiled.msgpack"


class Entry(msgspec.Struct, frozen=True, array_like=True):
    """What a TOML file holds, as MessagePack, and the checksum of the file."""

    checksum: bytes
    data: bytes


def compile_files(root: Path) -> None:
    """Write such a file into each folder below `root` that holds TOML files."""
    for folder in sorted({path.parent for path in root.rglob("*.toml")}):
        texts = {path.name: path.read_bytes() for path in sorted(folder.glob("*.toml"))}
        entries = {name: Entry(_checksum(text), _encoded(text)) for name, text in texts.items()}
        (folder / NAME).write_bytes(msgspec.msgpack.encode(entries))


def data_of(path: Traversable, toml: bytes) -> bytes | None:
    """What a TOML file holds, as MessagePack; None where that is not known."""
    folder, _, name = str(path).replace("\\", "/").rpartition("/")
    entry = _entries(folder).get(name)
    return entry.data if entry is not None and entry.checksum == _checksum(toml) else None


@functools.cache
def _entries(folder: str) -> Mapping[str, Entry]:
    try:
        return msgspec.msgpack.decode((Path(folder) / NAME).read_bytes(), type=dict[str, Entry])
    except (OSError, msgspec.MsgspecError):
        return {}


def _encoded(toml: bytes) -> bytes:
    return msgspec.msgpack.encode(tomli.loads(toml.decode()))


def _checksum(data: bytes) -> bytes:
    return xxhash.xxh3_128_digest(data)
