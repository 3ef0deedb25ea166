"""The source that was executed, as on a listing: numbered, without what was left out, and with its lines marked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from torchlint.report.html_page import code_text, text
from torchlint.verify.data import Result, TargetRun

_KEPT_BLANKS = 2
"""So many blank lines in a row stay as they are; more are what was left out."""
_PLACES = {"forward_line": "called here", "constructor_line": "constructed here", "diverged_at": "diverged here"}

Place = tuple[int | None, int]
"""A cell and a line."""


@dataclass(frozen=True, slots=True)
class Marks:
    """The lines that findings are about, and what is said beside a line."""

    flagged: frozenset[Place]
    said: Mapping[Place, tuple[str, ...]]


def marks_of(run: TargetRun, results: Iterable[Result]) -> Marks:
    flagged: set[Place] = set()
    said: dict[Place, dict[str, None]] = defaultdict(dict)
    for result in results:
        place = result.finding.location
        flagged |= {(place.cell, line) for line in range(place.line, place.end_line + 1)}
        said[(place.cell, place.line)][result.finding.code or "asked for"] = None
        for evidence in (result.evidence, *(answer.evidence for answer in result.others)):
            for key, words in _PLACES.items():
                seen = _place(evidence.get(key), run.path)
                if seen is not None:
                    said[seen][words] = None
    return Marks(frozenset(flagged), {place: tuple(words) for place, words in said.items()})


def _place(value: object, path: str) -> Place | None:
    if not isinstance(value, dict) or value.get("path") != path:
        return None
    cell, line = value.get("cell"), value.get("line")
    return (cell if isinstance(cell, int) else None, line) if isinstance(line, int) else None


def listing_lines(run: TargetRun, marks: Marks) -> Iterator[str]:
    """Rows of markup: one for a line of code, one for what was left out, one for where a cell begins."""
    yield '<div class="listing">'
    cell: int | None = None
    for place, line in _gathered(run):
        if place is None:
            yield f'<div class="row gap"><span class="number">⋮</span><span class="left-out">{text(line)}</span></div>'
            continue
        if place[0] != cell:
            cell = place[0]
            yield f'<div class="row gap"><span class="number"></span><span class="left-out">cell {cell}</span></div>'
        yield _row(place, line, marks)
    yield "</div>"


def _row(place: Place, line: str, marks: Marks) -> str:
    said = marks.said.get(place, ())
    kind = " flagged" if place in marks.flagged else " seen" if said else ""
    tags = "".join(f'<span class="tag">{text(words)}</span>' for words in said)
    return f'<div class="row{kind}"><span class="number">{place[1]}</span><code>{code_text(line)}</code>{tags}</div>'


def _gathered(run: TargetRun) -> Iterator[tuple[Place | None, str]]:
    """Each line with its place; instead of many blank lines their number, and none at the ends."""
    blanks: list[Place] = []
    has_begun = False
    for number, line in enumerate(run.text.split("\n"), 1):
        place = run.places[number - 1] if number <= len(run.places) else (None, number)
        if not line.strip():
            blanks.append(place)
            continue
        if blanks and (len(blanks) > _KEPT_BLANKS or not has_begun):
            yield None, f"{len(blanks)} line{'' if len(blanks) == 1 else 's'} blank or left out"
        else:
            yield from ((blank, "") for blank in blanks)
        blanks, has_begun = [], True
        yield place, line
