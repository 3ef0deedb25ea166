"""What judges ask the file system about files that stand in no list of the project.

Each question is kept with a checksum of its answer, so that whoever keeps a report can ask again.
"""

# A walk over thousands of files works on strings; a Path for each would cost more than the walk.
# ruff: noqa: PTH113, PTH118

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from torchlint.encoding import checksum
from torchlint.source.exclusion import NOT_PROJECT

_EXTENSIONS = (".cu", ".cuh", ".cpp", ".cc", ".cxx", ".h", ".hpp", ".inl")
_TORCH = ("lib/python3*/site-packages/torch-[0-9]*.[0-9]*.dist-info", "Lib/site-packages/torch-[0-9]*.[0-9]*.dist-info")
_LARGEST = 16_000_000
"""Bytes."""
Told = tuple[str, str, bytes]


class Outside:
    """The questions of one run.

    >>> outside = Outside()
    >>> outside.data("missing.txt")
    b''
    >>> Outside.says_the_same(outside.told)
    True
    """

    def __init__(self) -> None:
        self._told: dict[tuple[str, str], bytes] = {}

    def data(self, path: str | Path) -> bytes:
        """The bytes of a file; nothing of one that cannot be read, of a device, or of what is too large to be code."""
        return self._answer("data", str(path))

    def is_file(self, path: str | Path) -> bool:
        """Whether there is such a file; there is none with a name that is too long."""
        return bool(self._answer("is_file", str(path)))

    def extension_sources(self, root: Path) -> list[str]:
        """The C++ and CUDA files below a folder, sorted; hidden folders and installed packages aside."""
        return os.fsdecode(self._answer("extension_sources", str(root))).split("\0")[:-1]

    def installed_torch(self, root: Path | None) -> str:
        """The version of torch in a project's environment, from the names of metadata folders; empty for none."""
        return self._answer("installed_torch", "" if root is None else str(root)).decode(errors="replace")

    @property
    def told(self) -> tuple[Told, ...]:
        """What was asked, of which path, and the checksum of the answer."""
        return tuple((kind, path, known) for (kind, path), known in self._told.items())

    def learn(self, told: Iterable[Told]) -> None:
        """What another process asked."""
        self._told.update(((kind, path), known) for kind, path, known in told)

    @staticmethod
    def says_the_same(told: Iterable[Told]) -> bool:
        """Whether the file system answers questions today as it did then."""
        return all(checksum(_ASKED[kind](path)) == known for kind, path, known in told)

    def _answer(self, kind: str, path: str) -> bytes:
        answer = _ASKED[kind](path)
        self._told[kind, path] = checksum(answer)
        return answer


def _data(path: str) -> bytes:
    try:
        status = os.stat(path)  # noqa: PTH116
        is_read = stat.S_ISREG(status.st_mode) and status.st_size <= _LARGEST
        return Path(path).read_bytes() if is_read else b""
    except (OSError, ValueError):
        return b""


def _extension_sources(root: str) -> bytes:
    found: list[str] = []
    for above, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in NOT_PROJECT and not name.startswith("."))
        found += [os.path.join(above, name) for name in names if name.endswith(_EXTENSIONS)]
    return b"".join(os.fsencode(path) + b"\0" for path in sorted(found))


def _installed_torch(root: str) -> bytes:
    active = [os.environ.get(name) for name in ("VIRTUAL_ENV", "CONDA_PREFIX")]
    own = [Path(root) / ".venv", Path(root) / "venv"] if root else []
    for prefix in [*own, *(Path(prefix) for prefix in active if prefix), Path(sys.prefix)]:
        for pattern in _TORCH:
            for folder in sorted(prefix.glob(pattern), reverse=True):
                return folder.name.removeprefix("torch-").encode(errors="surrogateescape")
    return b""


_ASKED: Mapping[str, Callable[[str], bytes]] = {
    "data": _data,
    "is_file": lambda path: b"1" if os.path.isfile(path) else b"",
    "extension_sources": _extension_sources,
    "installed_torch": _installed_torch,
}
