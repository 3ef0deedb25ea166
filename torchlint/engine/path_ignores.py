"""The configuration's `per-file-ignores`: what they silence, and which of them silence nothing (TL002)."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from torchlint.checks.framework.drafts import Draft
from torchlint.config import Settings
from torchlint.diagnostics import Location

_CODE = "TL002"


class PathIgnores:
    """Per-file-ignores at work. Remembers which pattern silenced which code.

    `holders` names the notebook that writes a file: a pattern may mean either.
    """

    def __init__(self, settings: Settings, holders: Mapping[str, str]) -> None:
        self._settings = settings
        self._holders = holders
        self._used: set[tuple[str, str]] = set()

    def silences(self, code: str, path: str) -> bool:
        """Whether a pattern takes findings of this code in a file, given by its path below the root."""
        names = (path, self._holders.get(path, path))
        matching = [
            pattern
            for pattern, codes in self._settings.per_file_ignores
            if code in codes and any(_matches(pattern, name) for name in names)
        ]
        self._used |= {(pattern, code) for pattern in matching}
        return bool(matching)

    def unused(self) -> Iterator[Draft]:
        """A TL002 draft for each pattern with codes that ran and silenced nothing: only right after a whole run."""
        config = self._settings.config_file
        for pattern, codes in self._settings.per_file_ignores if config is not None else ():
            idle = sorted(
                code for code in codes & self._settings.selected if (pattern, code) not in self._used and code != _CODE
            )
            if idle and config is not None:
                yield _draft(config, pattern, ", ".join(idle))


def _matches(pattern: str, path: str) -> bool:
    """By name, by a folder on the way, or in full."""
    if "/" not in pattern:
        return any(fnmatch.fnmatchcase(part, pattern) for part in path.split("/"))
    return fnmatch.fnmatchcase(path, pattern.removeprefix("./").removeprefix("/"))


def _draft(config: Path, pattern: str, codes: str) -> Draft:
    """At the line of the configuration file that names the pattern."""
    lines = config.read_text(encoding="utf-8", errors="replace").split("\n")
    line = next((number for number, text in enumerate(lines, 1) if pattern in text and "[" in text), 1)
    text = lines[line - 1]
    column = text.find(pattern) + 1 or 1
    shown = os.path.relpath(config).replace(os.sep, "/")
    return Draft(
        code=_CODE,
        check="engine",
        path=config.name,
        location=Location(shown, None, line, column, line, column + len(pattern)),
        source_line=text,
        lines=(line, line),
        values={"selectors": f"{pattern}: {codes}"},
        message="unused",
        severity=None,
        confidence=None,
    )
