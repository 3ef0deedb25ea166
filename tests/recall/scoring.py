"""What people found in training repositories by reading, against what torchlint says of them."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from torchlint.diagnostics import Diagnostic, Location

HERE = Path(__file__).parent
_NEAR = 12
"""Lines from where a reader saw it: a call of several lines begins elsewhere."""
_OF_PROGRAMS = {
    "unseeded-program": {"TL301"},
    "seed-in-parent-only": {"TL301"},
    "draws-in-prediction": {"TL301"},
    "entropy-seed": {"TL302"},
    "resume": {"TL313"},
    "kernels-not-restricted": {"TL210", "TL213"},
    "cudnn-benchmark": {"TL207", "TL208", "TL209"},
}
"""What a whole program does, by the rules that say so, at its seed, its first draw or its loop."""


@dataclass(frozen=True, slots=True)
class Read:
    """One line that somebody read: a cause of runs that differ, or a finding that was judged.

    `line` is a number, or `c4:7` for line 7 of cell 4 of a notebook, cells counted from 0. `hash` is of the line
    without its indentation; it is empty where the reading was of a whole file. `word` is the rule that would name a
    cause (`none`: there is no such rule), or the rule of a finding.
    """

    repository: str
    commit: str
    path: str
    line: str
    hash: str
    kind: str
    """Of a cause; the verdict on a finding."""
    word: str

    def is_still_there(self, folder: Path) -> bool:
        """Whether the file has the line where it was read."""
        if not self.hash or self.line.startswith("c"):
            return (folder / self.path).is_file()
        lines = (folder / self.path).read_text(encoding="utf-8", errors="replace").splitlines()
        line = lines[int(self.line) - 1] if int(self.line) <= len(lines) else ""
        return hash_of(line) == self.hash

    def is_named_by(self, found: Diagnostic) -> bool:
        """Whether a finding is of this rule, and stands at the line, near it, or relates to it."""
        places = [
            place for place in (found.location, *(one.location for one in found.related)) if self.is_of(place.path)
        ]
        if self.kind in _OF_PROGRAMS:
            return bool(places) and found.code in _OF_PROGRAMS[self.kind]
        is_operator = self.kind == "nondeterministic-op" and found.code.startswith("TL1")
        return (is_operator or found.code == self.word) and any(self._is_near(place) for place in places)

    def is_of(self, path: str) -> bool:
        """Whether a path is of the file, be it of a clone called `owner+name`."""
        return path == self.path or path.endswith(f"{self.repository.replace('/', '+')}/{self.path}")

    def is_near(self, place: Location) -> bool:
        """Whether a place is the line, or close to it."""
        return self.is_of(place.path) and self._is_near(place)

    def _is_near(self, place: Location) -> bool:
        cell, _, line = self.line.rpartition(":")
        is_cell = not cell or place.cell == int(cell.removeprefix("c")) + 1
        return is_cell and abs(place.line - int(line)) <= _NEAR


def hash_of(line: str) -> str:
    """Tells a line without holding it: code of others stays with them."""
    return hashlib.sha256(line.strip().encode()).hexdigest()[:12]


def causes() -> list[Read]:
    """Every reason for differing runs that a reader saw."""
    return [Read(*row[:7]) for row in _rows("causes")]


def judged() -> list[Read]:
    """Findings that a reader judged: `true`, `useless` or `false`."""
    return [Read(*(*row[:5], row[6], row[5])) for row in _rows("findings")]


def _rows(name: str) -> Iterator[Sequence[str]]:
    with (HERE / f"{name}.tsv").open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        next(rows)
        yield from rows


def named(read: Iterable[Read], found: Sequence[Diagnostic]) -> list[Read]:
    """Those that some finding names."""
    return [one for one in read if any(one.is_named_by(diagnostic) for diagnostic in found)]
