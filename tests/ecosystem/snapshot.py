"""Findings as compact rows, the file that keeps them, and what moved between two sets of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from torchlint.diagnostics import Diagnostic

HEADER = "package\tpath\tline\tcode\tconfidence"


@dataclass(frozen=True, slots=True, order=True)
class Row:
    """One finding. In a notebook the line counts inside `cell`."""

    package: str
    path: str
    cell: int
    """0 outside notebooks."""
    line: int
    code: str
    confidence: str

    @property
    def place(self) -> str:
        return f"{self.path}:{_line(self)}"

    @property
    def file(self) -> tuple[str, str]:
        return self.package, self.path


def row_of(package: str, path: str, diagnostic: Diagnostic) -> Row:
    """The row of a finding in the file `path` of a package."""
    place = diagnostic.location
    return Row(package, path, place.cell or 0, place.line, diagnostic.code, diagnostic.confidence.label)


def dump(rows: Iterable[Row]) -> str:
    """The text of a snapshot: sorted, one finding a line, the same for the same findings."""
    lines = (f"{row.package}\t{row.path}\t{_line(row)}\t{row.code}\t{row.confidence}" for row in sorted(rows))
    return "\n".join([HEADER, *lines]) + "\n"


def load(text: str) -> list[Row]:
    """The rows of a snapshot. Raises ValueError for text that is none."""
    head, *lines = text.splitlines()
    if head != HEADER:
        raise ValueError(f"a snapshot starts with {HEADER!r}")
    rows = []
    for line in lines:
        package, path, place, code, confidence = line.split("\t")
        cell, _, number = place.rpartition(".")
        rows.append(Row(package, path, int(cell or 0), int(number), code, confidence))
    return rows


def _line(row: Row) -> str:
    return f"{row.cell}.{row.line}" if row.cell else str(row.line)


@dataclass(frozen=True, slots=True)
class Moves:
    """What a change of torchlint did to one rule's findings."""

    code: str
    added: tuple[Row, ...]
    removed: tuple[Row, ...]


def compare(before: Iterable[Row], after: Iterable[Row]) -> list[Moves]:
    """The rules whose findings moved, by code. Two findings of a rule on one line count twice."""
    old, new = Counter(before), Counter(after)
    added, removed = sorted((new - old).elements()), sorted((old - new).elements())
    return [
        Moves(
            code,
            tuple(row for row in added if row.code == code),
            tuple(row for row in removed if row.code == code),
        )
        for code in sorted({row.code for row in (*added, *removed)})
    ]
