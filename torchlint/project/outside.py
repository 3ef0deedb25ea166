"""What judges ask the file system about files that stand in no list of the project.

Each question is kept with a checksum of its answer, so that whoever keeps a report can ask again.
"""

# A walk over thousands of files works on strings; a Path for each would cost more than the walk.
# ruff: noqa: PTH113, PTH118

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import xxhash

from torchlint.source.exclusion import NOT_PROJECT

_EXTENSIONS = (".cu", ".cuh", ".cpp", ".cc", ".cxx", ".h", ".hpp", ".inl")
_TORCH = ("lib/python3*/site-packages/torch-[0-9]*.[0-9]*.dist-info", "Lib/site-packages/torch-[0-9]*.[0-9]*.dist-info")


class Outside:
    """The questions of one run, each asked once.

    >>> outside = Outside()
    >>> outside.data("missing.txt")
    b''
    >>> Outside.says_the_same(outside.checksums)
    True
    """

    def __init__(self) -> None:
        self._answers: dict[tuple[str, str], bytes] = {}

    def data(self, path: str | Path) -> bytes:
        """The bytes of a file; nothing of one that cannot be read."""
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
    def checksums(self) -> dict[tuple[str, str], str]:
        """By question: what was asked, and of which path."""
        return {question: _checksum(answer) for question, answer in self._answers.items()}

    @staticmethod
    def says_the_same(checksums: Mapping[tuple[str, str], str]) -> bool:
        """Whether the file system answers questions today as it did then."""
        return all(_checksum(_ASKED[kind](path)) == known for (kind, path), known in checksums.items())

    def _answer(self, kind: str, path: str) -> bytes:
        if (kind, path) not in self._answers:
            self._answers[kind, path] = _ASKED[kind](path)
        return self._answers[kind, path]


def _checksum(data: bytes) -> str:
    return xxhash.xxh3_128_hexdigest(data)


def _data(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except (OSError, ValueError):
        return b""


def _is_file(path: str) -> bytes:
    return b"1" if os.path.isfile(path) else b""


def _extension_sources(root: str) -> bytes:
    return b"".join(os.fsencode(path) + b"\0" for path in sorted(_below(root)))


def _below(root: str) -> Iterable[str]:
    for above, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in NOT_PROJECT and not name.startswith("."))
        yield from (os.path.join(above, name) for name in names if name.endswith(_EXTENSIONS))


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
    "is_file": _is_file,
    "extension_sources": _extension_sources,
    "installed_torch": _installed_torch,
}
