"""Prints findings with the source they stand in, for a person who judges them."""

from __future__ import annotations

import functools
import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from tests.ecosystem.snapshot import Moves, Row
from torchlint.errors import UnreadableSource
from torchlint.source.text import read_source

CONTEXT = 3
"""Lines shown above and below a finding."""

LinesOf = Callable[[Row], Sequence[str]]
"""The lines of the file, or of the notebook cell, that a finding stands in."""


def lines_reader(folders: Mapping[str, Path]) -> LinesOf:
    """Read sources from the folders of the packages; what cannot be read has no lines."""

    @functools.cache
    def read(path: Path, cell: int) -> Sequence[str]:
        try:
            if cell:
                source = json.loads(path.read_text(encoding="utf-8"))["cells"][cell - 1]["source"]
                return ("".join(source) if isinstance(source, list) else str(source)).splitlines()
            return read_source(path, path.name).text.removesuffix("\n").split("\n")
        except (OSError, UnreadableSource, ValueError, LookupError, TypeError):
            return ()

    return lambda row: read(folders[row.package] / row.path, row.cell)


def moved_lines(moves: Sequence[Moves], names: Mapping[str, str], lines_of: LinesOf) -> Iterator[str]:
    """Each rule that moved, with a `+` or `-` line for each finding and the source it stands on."""
    for rule in moves:
        yield f"{rule.code} {names.get(rule.code, '')}: {len(rule.added)} added, {len(rule.removed)} removed"
        for sign, rows in (("+", rule.added), ("-", rule.removed)):
            for row in rows:
                lines = lines_of(row)
                source = lines[row.line - 1].strip() if row.line <= len(lines) else ""
                yield f"  {sign} {row.package} {row.place}{_mark(row)}  {source[:140]}".rstrip()
        yield ""


def sample(rows: Sequence[Row], size: int, seed: int) -> list[Row]:
    """`size` of the rows, the same ones for the same seed, in the order of the snapshot."""
    ordered = sorted(rows)
    if len(ordered) <= size:
        return ordered
    return sorted(random.Random(seed).sample(ordered, size))  # noqa: S311 - which findings to read is no secret


def shown_lines(rows: Sequence[Row], messages: Mapping[Row, str], lines_of: LinesOf) -> Iterator[str]:
    """Each finding with its message and the lines around it."""
    for number, row in enumerate(rows, start=1):
        yield f"[{number}/{len(rows)}] {row.package} {row.place}{_mark(row)}"
        if row in messages:
            yield f"  {messages[row]}"
        lines = lines_of(row)
        first, last = max(1, row.line - CONTEXT), min(len(lines), row.line + CONTEXT)
        for line in range(first, last + 1):
            mark = ">" if line == row.line else " "
            yield f"  {mark} {line:>5} | {lines[line - 1]}".rstrip()
        yield ""


def _mark(row: Row) -> str:
    return "" if row.confidence == "high" else f" [{row.confidence}]"
