"""Names for findings that outlast moved lines: the same finding has the same one in the next run."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from torchlint.diagnostics import Diagnostic

_IGNORE = re.compile(r"#[ \t]*torchlint[ \t]*:.*", re.IGNORECASE)


def fingerprints(diagnostics: Sequence[Diagnostic], folder: Path | None = None) -> tuple[str, ...]:
    """One for each finding, in order: of its code, its file, the text of its line, and which of its equals it is.

    Neither the number of the line, nor its indent, nor an ignore comment on it, nor a notebook's cell has a part in
    it. Files are named from `folder`, the current one unless given, so that it does not matter how a path was written.
    """
    base = folder or Path.cwd()
    seen: Counter[str] = Counter()
    found = [""] * len(diagnostics)
    for index in sorted(range(len(diagnostics)), key=lambda index: diagnostics[index].sort_key):
        diagnostic = diagnostics[index]
        line = " ".join(_IGNORE.sub("", diagnostic.source_line).split())
        plain = "\0".join((diagnostic.code, path_from(base, diagnostic.location.path), line))
        found[index] = _digest(f"{plain}\0{seen[plain]}")
        seen[plain] += 1
    return tuple(found)


def path_from(base: Path, path: str) -> str:
    """A path as it is called from a folder, with `/`."""
    try:
        relative = os.path.relpath(path, base)
    except ValueError:  # another drive
        relative = path
    return relative.replace(os.sep, "/")


def _digest(text: str) -> str:
    import hashlib  # noqa: PLC0415 - slow to import, and few checks name their findings

    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
