"""Whether bytes name torch, or another library that is known: a project that names none is not looked into."""

from __future__ import annotations

import re
import string

from torchlint.catalogue import Catalogue

_TORCH = re.compile(rb"torch(?!lint)")
_LISTING = (string.ascii_letters + string.digits + string.whitespace + "_,.()\\").encode()
"""What stands between the beginning of an import and one of its names."""
_IMPORT = re.compile(rb"\b(?:import|from)\s")
_NEAR = 200
"""Bytes before a name in which its import begins."""


class NamedLibraries:
    """`torch` counts anywhere, also in a comment or a manifest, other libraries where they are imported or quoted."""

    def __init__(self, catalogue: Catalogue) -> None:
        called = {one.call.partition(".")[0] for operator in catalogue.operators for one in operator.spelling}
        packages = {*catalogue.names.libraries, *(library.package for library in catalogue.libraries), *called}
        names = sorted(map(re.escape, packages - {"", "torch"}))
        self._others = re.compile(rf"\b(?:{'|'.join(names)})\b".encode())

    def are_in(self, data: bytes) -> bool:
        """In time that is linear in the length, whatever the bytes are."""
        return _TORCH.search(data) is not None or any(
            _is_imported(data[max(match.start() - _NEAR, 0) : match.start()]) for match in self._others.finditer(data)
        )


def _is_imported(before: bytes) -> bool:
    """Whether a name behind these bytes is quoted, or stands in an import."""
    return before.endswith((b'"', b"'")) or _IMPORT.search(before[len(before.rstrip(_LISTING)) :]) is not None
