"""The pages of an audit: plain frozen data that any report can print."""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace
from typing import Literal

from torchlint.diagnostics import InternalError, Location, Note

_FIRST = 3
"""Lines that a page names at its head."""
_AMBER = 8
"""Amber lines that a page shows in full."""


class Light(enum.IntEnum):
    """What a line or a section comes to. Green says that nothing was found, and never that nothing is there."""

    GREEN = 0
    AMBER = 1
    RED = 2

    @property
    def label(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in the code, with its line where there is one to show."""

    location: Location
    source_line: str = ""
    note: str = ""
    """What happens there, where the line of the page does not say it: `seeds`, `draws`."""

    def __str__(self) -> str:
        """`train.py:12`, or `train.ipynb:cell 3:12`: people look for lines, not for columns."""
        return self.location.shown_line


@dataclass(frozen=True, slots=True)
class Line:
    """One thing to know: a library that is seeded, a switch that is set, an operator that varies."""

    label: str
    text: str
    light: Light | None = None
    """None is a fact that is neither good nor bad."""
    spots: tuple[Spot, ...] = ()
    code: str = ""
    """Of the rule that found it, if a rule did."""
    url: str = ""
    advice: str = ""
    """What turns it green."""
    run: str = ""
    """The command whose run settles it; empty where none does."""


@dataclass(frozen=True, slots=True)
class Section:
    """One thing that reproducibility stands on."""

    key: str
    title: str
    headline: str
    """What it comes to in a few words; empty where there is nothing to say."""
    lines: tuple[Line, ...]
    looked_for: str
    """What was looked for, and what that leaves out."""

    @property
    def light(self) -> Light:
        """The worst of its lines."""
        return max((line.light for line in self.lines if line.light is not None), default=Light.GREEN)

    def count(self, light: Light) -> int:
        return sum(line.light is light for line in self.lines)


def topic(title: str, line: Line) -> str:
    """What a line is about where its section is not around it: `Seeds, numpy.random`, and once what says it twice."""
    return title if line.label.lower() in title.lower() else f"{title}, {line.label}"


@dataclass(frozen=True, slots=True)
class Subject:
    """The program that a page is about."""

    name: str
    """As it is asked for: `train.py`, or `tool.py::train` for one of several commands."""
    kind: str
    start: Spot
    trains: Spot | None
    """Where it is seen to train."""
    torch: str
    devices: tuple[str, ...]
    files: tuple[str, ...]
    """The files that it reaches, as far as names tell."""
    is_example: bool


@dataclass(frozen=True, slots=True)
class Page:
    """All that is known about one program."""

    subject: Subject
    sections: tuple[Section, ...]
    unseen: tuple[str, ...]
    """What nobody can see here without running it."""
    ranked: tuple[tuple[str, Line], ...] = ()
    """The red and amber lines with the titles of their sections: what was a cause more often comes first."""

    @property
    def first(self) -> tuple[tuple[str, Line], ...]:
        """The lines to look at first, of several about one thing the first."""
        distinct: dict[tuple[str, str], tuple[str, Line]] = {}
        for title, line in self.ranked:
            distinct.setdefault((title, line.label), (title, line))
        return tuple(distinct.values())[:_FIRST]

    @property
    def folded(self) -> tuple[Line, ...]:
        """Of many amber lines the last: reports for people show them in one row each."""
        return tuple(line for _, line in self.ranked if line.light is Light.AMBER)[_AMBER:]

    @property
    def light(self) -> Light:
        return max((section.light for section in self.sections), default=Light.GREEN)

    def count(self, light: Light) -> int:
        return sum(section.count(light) for section in self.sections)

    @property
    def rank(self) -> tuple[int, int]:
        """Sorts the worst page first."""
        return (-self.count(Light.RED), -self.count(Light.AMBER))

    @property
    def verdict(self) -> str:
        """One sentence for the head of the page."""
        reasons, points = self.count(Light.RED), self.count(Light.AMBER)
        still_open = f"{points} point{'' if points == 1 else 's'} left open"
        if reasons:
            found = "1 reason found" if reasons == 1 else f"{reasons} reasons found"
            return f"{found} why two runs may differ" + (f", {still_open}" if points else "")
        return f"No reason found, {still_open}" if points else "No reason found why two runs would differ"


@dataclass(frozen=True, slots=True)
class Change:
    """A line that an earlier audit did not have, or that is gone since."""

    title: str
    """Of its section."""
    line: Line
    other: Line | None = None
    """What stood there before a new line, or stands there now in place of one that is gone."""


@dataclass(frozen=True, slots=True)
class ProgramChange:
    """What became of one program."""

    name: str
    status: Literal["new", "kept", "gone"]
    new: tuple[Change, ...] = ()
    """Lines that are red or amber now and were not before."""
    gone: tuple[Change, ...] = ()
    """Lines that were red or amber and got better."""

    @property
    def light(self) -> Light:
        """The worst of its new lines."""
        return max((change.line.light or Light.GREEN for change in self.new), default=Light.GREEN)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What changed since an earlier audit, by program; programs in which nothing changed are left out."""

    against: str
    """Its file."""
    programs: tuple[ProgramChange, ...]


@dataclass(frozen=True, slots=True)
class Audit:
    """The pages of all programs that were asked for: the project's own first, examples after them."""

    pages: tuple[Page, ...]
    notes: tuple[Note, ...] = ()
    internal_errors: tuple[InternalError, ...] = ()
    compared: Comparison | None = None
    """Where an earlier audit was given."""

    def worst_first(self) -> Audit:
        """The same pages for an overview: red before amber before green, the project's own before examples."""
        return replace(self, pages=tuple(sorted(self.pages, key=lambda page: (page.subject.is_example, *page.rank))))
