"""The configuration's `per-file-ignores`: what they silence, and which of them are for no file (TL002)."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from torchlint.catalogue import Catalogue
from torchlint.config import Settings
from torchlint.diagnostics import Diagnostic, Location

_CODE = "TL002"


class PathIgnores:
    """Per-file-ignores at work on the files of a project, given by their paths below `root`.

    `holders` names the notebook that writes a file: a pattern may mean either.
    """

    def __init__(self, settings: Settings, root: Path, holders: Mapping[str, str]) -> None:
        self._patterns = settings.per_file_ignores
        self._folder = os.path.relpath(root, settings.root).replace(os.sep, "/")
        self._holders = holders

    def silences(self, code: str, path: str) -> bool:
        """Whether a pattern takes findings of this code in a file."""
        return any(
            code in codes and any(_matches(pattern, self._from_settings(name)) for name in self._names(path))
            for pattern, codes in self._patterns
        )

    def _names(self, path: str) -> tuple[str, ...]:
        return (path, self._holders[path]) if path in self._holders else (path,)

    def _from_settings(self, path: str) -> str:
        """The path below the folder of the configuration."""
        return path if self._folder == "." else f"{self._folder}/{path}"


def unused_ignores(settings: Settings, catalogue: Catalogue, paths: Iterable[str]) -> list[Diagnostic]:
    """A TL002 for each pattern that is for none of these files: only right for all that a root holds.

    A pattern that is for some file is a rule of the house, whether or not it silences anything today.
    """
    config, every = settings.config_file, tuple(paths)
    own = PathIgnores(settings, settings.root, {})
    if config is None or _CODE not in settings.selected or own.silences(_CODE, config.name):
        return []
    patterns = [pattern for pattern, _ in settings.per_file_ignores]
    idle = [pattern for pattern in patterns if not any(_matches(pattern, path) for path in every)]
    return [_told(config, pattern, catalogue) for pattern in idle]


def _matches(pattern: str, path: str) -> bool:
    """By name, by a folder on the way, or in full."""
    if "/" not in pattern:
        return any(fnmatch.fnmatchcase(part, pattern) for part in path.split("/"))
    return fnmatch.fnmatchcase(path, pattern.removeprefix("./").removeprefix("/"))


def _told(config: Path, pattern: str, catalogue: Catalogue) -> Diagnostic:
    """At the line of the configuration file that names the pattern."""
    from torchlint.checks.framework.drafts import Draft  # noqa: PLC0415 - few configurations need it
    from torchlint.engine.judgement import diagnostic_of  # noqa: PLC0415 - likewise

    lines = config.read_text(encoding="utf-8", errors="replace").split("\n")
    line = next((number for number, text in enumerate(lines, 1) if pattern in text and "[" in text), 1)
    text = lines[line - 1]
    column = text.find(pattern) + 1 or 1
    shown = os.path.relpath(config).replace(os.sep, "/")
    draft = Draft(
        code=_CODE,
        check="engine",
        path=config.name,
        location=Location(shown, None, line, column, line, column + len(pattern)),
        source_line=text,
        lines=(line, line),
        values={"selectors": pattern},
        message="no_file",
        severity=None,
        confidence=None,
    )
    return diagnostic_of(draft, catalogue)
