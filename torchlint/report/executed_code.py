"""The source that was executed, as on a listing: numbered, without what was left out, and with its lines marked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from torchlint.report.fixes import counted
from torchlint.verify.data import Result, TargetRun

_KEPT_BLANKS = 2
"""So many blank lines in a row stay as they are; more are what was left out."""
_PLACES = {"forward_line": "called here", "constructor_line": "constructed here", "diverged_at": "diverged here"}

_Place = tuple[int | None, int]
"""A cell and a line."""


@dataclass(frozen=True, slots=True)
class Row:
    """A line of code, and what is said beside it; or a gap: where a cell begins, or what was left out."""

    number: str
    text: str
    is_gap: bool = False
    is_flagged: bool = False
    """Whether a finding is about it."""
    tags: tuple[str, ...] = ()


def listing_of(run: TargetRun, results: Sequence[Result]) -> tuple[Row, ...]:
    return tuple(_rows(run, _flagged(results), _said(run.path, results)))


def _flagged(results: Iterable[Result]) -> set[_Place]:
    places = [result.finding.location for result in results]
    return {(place.cell, line) for place in places for line in range(place.line, place.end_line + 1)}


def _said(path: str, results: Iterable[Result]) -> Mapping[_Place, Mapping[str, None]]:
    """What is said beside a line, each thing once."""
    said: dict[_Place, dict[str, None]] = defaultdict(dict)
    for result in results:
        place = result.finding.location
        said[(place.cell, place.line)][result.finding.code or "asked for"] = None
        for evidence in (result.evidence, *(answer.evidence for answer in result.others)):
            for key, words in _PLACES.items():
                seen = _place(evidence.get(key), path)
                if seen is not None:
                    said[seen][words] = None
    return said


def _place(value: object, path: str) -> _Place | None:
    if not isinstance(value, dict) or value.get("path") != path:
        return None
    cell, line = value.get("cell"), value.get("line")
    return (cell if isinstance(cell, int) else None, line) if isinstance(line, int) else None


def _rows(run: TargetRun, flagged: Container[_Place], said: Mapping[_Place, Iterable[str]]) -> Iterator[Row]:
    cell: int | None = None
    for place, line in _gathered(run):
        if place is None:
            yield Row("⋮", line, is_gap=True)
            continue
        if place[0] != cell:
            cell = place[0]
            yield Row("", f"cell {cell}", is_gap=True)
        yield Row(str(place[1]), line, is_flagged=place in flagged, tags=tuple(said.get(place, ())))


def _gathered(run: TargetRun) -> Iterator[tuple[_Place | None, str]]:
    """Each line with its place; instead of many blank lines their number, and none at the ends."""
    blanks: list[_Place] = []
    has_begun = False
    for number, line in enumerate(run.text.split("\n"), 1):
        place = run.places[number - 1] if number <= len(run.places) else (None, number)
        if not line.strip():
            blanks.append(place)
            continue
        if blanks and (len(blanks) > _KEPT_BLANKS or not has_begun):
            yield None, f"{counted(len(blanks), 'line')} blank or left out"
        else:
            yield from ((blank, "") for blank in blanks)
        blanks, has_begun = [], True
        yield place, line
