"""The findings on lines that changed since a git revision, committed or not.

The code is compared, not the bytes: a notebook that was run again has other outputs and the same lines.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path

import msgspec

from torchlint.adoption.repository import Repository, repository_top
from torchlint.diagnostics import Diagnostic, Location
from torchlint.errors import UnreadableSource
from torchlint.source.text import Source, source_from_bytes
from torchlint.source.written_files import written_files

_LONG = 2_000
"""Lines between the first and the last change; beyond, lines that recur often are no longer matched one by one."""


class ChangedLines(msgspec.Struct, frozen=True):
    """Of one file, counted over all cells of a notebook."""

    lines: frozenset[int]
    gaps: frozenset[int]
    """The lines after which others were taken out."""
    source: Source

    def touch(self, first: int, last: int) -> bool:
        """Whether a line between these has changed, or one in their midst is gone."""
        return any(line in self.lines for line in range(first, last + 1)) or any(
            line in self.gaps for line in range(first, last)
        )

    def touch_place(self, location: Location) -> bool:
        line = self.source.joined_line(location)
        return self.touch(line, line)


class Changes:
    """What changed since a revision, in whichever repositories the files lie."""

    def __init__(self, revision: str, contents: Mapping[Path, bytes]) -> None:
        self._revision = revision
        self._contents = {_absolute(path): data for path, data in contents.items()}
        self._repositories: dict[Path, Repository] = {}
        self._tops: dict[Path, Path] = {}
        self._files: dict[Path, ChangedLines | None] = {}

    def require(self, files: Iterable[Path]) -> None:
        """Raise ConfigError unless each file lies in a repository that knows the revision."""
        for folder in {_absolute(path).parent for path in files}:
            self._repository(folder)

    def touch(self, diagnostic: Diagnostic) -> bool:
        """Whether the statement of a finding has changed, or a line that explains it."""
        own = self._of(diagnostic.location.path)
        if own is None or own.touch(*_statement(diagnostic, own.source)):
            return True
        explained = ((self._of(each.location.path), each.location) for each in diagnostic.related)
        return any(changed is None or changed.touch_place(location) for changed, location in explained)

    def _of(self, shown: str) -> ChangedLines | None:
        """The changed lines of a file; None where all of it is new."""
        path = _absolute(Path(shown))
        if path not in self._files:
            self._files[path] = self._compared(path, shown)
        return self._files[path]

    def _compared(self, path: Path, shown: str) -> ChangedLines | None:
        old = self._repository(path.parent).old(path)
        if old is None:
            return None
        is_notebook = path.suffix.lower() == ".ipynb"
        try:
            data = self._contents[path] if path in self._contents else path.read_bytes()
            before = source_from_bytes(old, shown, notebook=is_notebook)
            now = source_from_bytes(data, shown, notebook=is_notebook)
        except (OSError, UnreadableSource):
            return None
        return _changed(now, _code(before, old), _code(now, data))

    def _repository(self, folder: Path) -> Repository:
        if folder not in self._tops:
            self._tops[folder] = repository_top(folder)
        top = self._tops[folder]
        if top not in self._repositories:
            self._repositories[top] = Repository.open(top, self._revision)
        return self._repositories[top]


def _absolute(path: Path) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100 - git knows a link as a link


def _statement(diagnostic: Diagnostic, source: Source) -> tuple[int, int]:
    """Its lines in the file; those of a file that a notebook's cell writes were counted in that file."""
    place = diagnostic.location
    line = source.joined_line(place)
    first, last = diagnostic.lines
    return (first, last) if first <= line <= last else (line, line + place.end_line - place.line)


def _changed(now: Source, old: Sequence[str], new: Sequence[str]) -> ChangedLines:
    above = _equal_above(old, new)
    below = _equal_above(old[above:][::-1], new[above:][::-1])
    old, new = old[above : len(old) - below], new[above : len(new) - below]
    lines: set[int] = set()
    gaps: set[int] = set()
    for tag, _, _, first, end in SequenceMatcher(None, old, new, autojunk=len(new) > _LONG).get_opcodes():
        if tag == "delete":
            gaps.add(above + first)
        elif tag != "equal":
            lines.update(range(above + first + 1, above + end + 1))
    return ChangedLines(frozenset(lines), frozenset(gaps), now)


def _equal_above(old: Sequence[str], new: Sequence[str]) -> int:
    """How many lines at the top are the same: most of a file is, and the matcher need not see it."""
    pairs = enumerate(zip(old, new, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(old), len(new)))


def _code(source: Source, data: bytes) -> list[str]:
    """The lines, with what the text of a notebook leaves out: what magics set or write, and cells that do not parse."""
    lines = list(source.lines)
    for setting in source.environment:
        lines[setting.line - 1] += f" %env {setting.name}={setting.value}"
    for problem in source.problems:
        lines[problem.line - 1] += f" {problem.reason}"
    for written in written_files(data) if source.cells else ():
        own = written.source(source.path)
        for number, text in enumerate(own.lines, 1):
            lines[source.joined_line(own.locate(number, 1, number, 1)) - 1] += text
    return lines
