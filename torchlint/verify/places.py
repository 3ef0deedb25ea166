"""Paths on the command line, which may name a line (`models.py:18`, `nb.ipynb:cell 3:5`) or a class (`models.py::Net`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from torchlint.diagnostics import Diagnostic

_LINE = re.compile(r"(?P<path>.+?)(?::cell (?P<cell>\d+))?:(?P<line>\d+)(?::\d+)?")


@dataclass(frozen=True, slots=True)
class Place:
    """A file or folder, one line of a file, or (`name`) a class or function of it whatever is found there."""

    path: Path
    cell: int | None = None
    line: int | None = None
    name: str | None = None

    def __contains__(self, finding: Diagnostic) -> bool:
        place = finding.location
        if self.line is None:
            return True
        same_file = Path(place.path).resolve() == self.path.resolve()
        return same_file and place.cell == self.cell and place.line <= self.line <= place.end_line


def parse_place(text: str) -> Place:
    """A path as it stands if it exists; else one with a line."""
    path = Path(text)
    if path.exists():
        return Place(path)
    file, separator, name = text.rpartition("::")
    if separator and name.isidentifier():
        return Place(Path(file), name=name)
    found = _LINE.fullmatch(text)
    if found is None:
        return Place(path)
    return Place(Path(found["path"]), int(found["cell"]) if found["cell"] else None, int(found["line"]))


def chosen(findings: Iterable[Diagnostic], places: Sequence[Place]) -> list[Diagnostic]:
    """The findings that the places name; where a file is named by lines only, those of other lines are left out."""
    by_line = [place for place in places if place.line is not None]
    whole = [place.path.resolve() for place in places if place.line is None and place.name is None]

    def is_named(finding: Diagnostic) -> bool:
        path = Path(finding.location.path).resolve()
        return any(path == each or each in path.parents for each in whole) or any(finding in each for each in by_line)

    return [finding for finding in findings if is_named(finding)]
