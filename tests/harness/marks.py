"""The marks in fixtures: what a line is expected to report, and what it reports or misses for now.

`# expect: TL101` · `# expect: TL101@8/warning/high, TL103` · `# todo-expect: TL101` (a known missed alarm)
· `# todo-ok: TL101` (a known false alarm). A line without a mark must be silent.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_MARK = re.compile(r"#\s*(?P<kind>expect|todo-expect|todo-ok):(?P<items>[^#]*)")
_ITEM = re.compile(
    r"(?P<code>[A-Z]+\d{3})(?:@(?P<column>\d+))?"
    r"(?:/(?P<severity>error|warning|info))?(?:/(?P<confidence>high|medium|low))?"
)

Place = tuple[str, int | None, int]
"""A file of the fixture, the cell in a notebook, and the line."""


@dataclass(frozen=True, slots=True, order=True)
class Hit:
    """A finding, as far as marks speak of it."""

    path: str
    cell: int
    """0 outside notebooks."""
    line: int
    column: int
    code: str
    severity: str
    confidence: str

    @property
    def place(self) -> tuple[str, int, int, str]:
        return self.path, self.cell, self.line, self.code


@dataclass(frozen=True, slots=True)
class Mark:
    kind: str
    path: str
    cell: int
    line: int
    code: str
    column: int | None
    severity: str | None
    confidence: str | None

    @property
    def place(self) -> tuple[str, int, int, str]:
        return self.path, self.cell, self.line, self.code

    @property
    def is_reported(self) -> bool:
        """Whether the finding is there today."""
        return self.kind != "todo-expect"

    def describes(self, hit: Hit) -> bool:
        return (
            self.column in (None, hit.column)
            and self.severity in (None, hit.severity)
            and self.confidence in (None, hit.confidence)
        )


def read_marks(path: str, text: str, cell: int = 0) -> Iterator[Mark]:
    """The marks of one Python text, in order. A malformed mark is an error of the fixture."""
    for token in tokenize.generate_tokens(io.StringIO(text, newline="\n").readline):
        if token.type != tokenize.COMMENT:
            continue
        for mark in _MARK.finditer(token.string):
            for item in mark["items"].split(","):
                match = _ITEM.fullmatch(item.strip())
                assert match, f"{path}:{token.start[0]}: malformed mark `{item.strip()}`"
                yield Mark(
                    kind=mark["kind"],
                    path=path,
                    cell=cell,
                    line=token.start[0],
                    code=match["code"],
                    column=int(match["column"]) if match["column"] else None,
                    severity=match["severity"],
                    confidence=match["confidence"],
                )


def differences(marks: Iterable[Mark], hits: Iterable[Hit]) -> list[str]:
    """What is reported and not marked, marked and not reported, or reported otherwise than the mark says."""
    hits = sorted(hits)
    marks = list(marks)
    wanted = Counter(mark.place for mark in marks if mark.is_reported)
    missed = {mark.place for mark in marks if not mark.is_reported}
    got = Counter(hit.place for hit in hits)
    problems = []
    for place in sorted((got - wanted).elements()):
        hint = " (no longer missed: turn `todo-expect` into `expect`)" if place in missed else ""
        problems.append(f"{_spelled(place)} is reported and not marked{hint}")
    problems += [f"{_spelled(place)} is marked and not reported" for place in sorted((wanted - got).elements())]
    for mark in marks:
        here = [hit for hit in hits if hit.place == mark.place]
        if mark.is_reported and here and not any(mark.describes(hit) for hit in here):
            told = ", ".join(f"@{hit.column}/{hit.severity}/{hit.confidence}" for hit in here)
            problems.append(f"{_spelled(mark.place)} is {told}")
    return problems


def _spelled(place: tuple[str, int, int, str]) -> str:
    path, cell, line, code = place
    return f"{path}:{f'cell {cell}:' if cell else ''}{line}: {code}"
