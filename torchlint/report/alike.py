"""Findings of one file that say the same are one entry of a report for people.

A file is the unit: checking it alone prints what the whole run prints for it. Programs are told every place, because
they annotate lines and know a finding again by its place.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from torchlint.diagnostics import Diagnostic, Location

if TYPE_CHECKING:
    from torchlint.report.context import Context

_LISTED = 5
"""Further places named on a line; the rest are counted."""
_NOWHERE = Location("", None, 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Entry:
    """A finding, and the others that say the same of other places in its file."""

    finding: Diagnostic
    others: tuple[Diagnostic, ...] = ()

    def also(self, context: Context) -> str:
        """` (also lines 31, 40 and 52)`, or nothing."""
        places = [context.placed(other.location) for other in self.others]
        if not places:
            return ""
        home = context.placed(self.finding.location)
        named = [_named(place, home) for place in places[:_LISTED]]
        more = [f"{len(places) - _LISTED} more"] if len(places) > _LISTED else []
        *most, last = [*dict.fromkeys(named), *more]
        word = "line" if not most else "lines"
        return f" (also {word} {', '.join(most)}{' and ' if most else ''}{last})"


def entries(diagnostics: Iterable[Diagnostic], context: Context) -> Iterator[Entry]:
    """Yield the findings in order, each with those that say the same further down."""
    groups: dict[Hashable, list[Diagnostic]] = {}
    for number, diagnostic in enumerate(diagnostics):
        key = number if context.all_places else _said(diagnostic)
        groups.setdefault(key, []).append(diagnostic)
    for first, *others in groups.values():
        if any(other.message != first.message for other in others):
            yield Entry(dataclasses.replace(first, message=_without_arguments(first.message)), tuple(others))
        else:
            yield Entry(first, tuple(others))


def _said(diagnostic: Diagnostic) -> Hashable:
    """All that a finding says, apart from its place and from what a call is given."""
    return dataclasses.replace(
        diagnostic,
        message=_without_arguments(diagnostic.message),
        location=replace(_NOWHERE, path=diagnostic.location.path),
        related=tuple(replace(each, location=_NOWHERE) for each in diagnostic.related),
        source_line="",
        lines=(0, 0),
        fingerprint="",
    )


def _without_arguments(message: str) -> str:
    """``F.interpolate(x, scale_factor=2)`: it varies` becomes ``F.interpolate(...)`: it varies`."""
    if not message.startswith("`"):
        return message
    code, quote, rest = message[1:].partition("`")
    start = _last_call(code)
    return f"`{code[:start]}(...)`{rest}" if quote and start else message


def _last_call(code: str) -> int:
    """Where the brackets of the outermost call open, or 0 for what is no call."""
    depth = 0
    for index in range(len(code) - 1, 0, -1) if code.endswith(")") else ():
        depth += (code[index] == ")") - (code[index] == "(")
        if depth <= 0:
            return index
    return 0


def _named(place: Location, home: Location) -> str:
    """The line; in another cell of a notebook the cell as well."""
    return str(place.line) if place.cell == home.cell else f"{place.line} of cell {place.cell}"
