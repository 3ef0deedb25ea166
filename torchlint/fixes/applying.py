"""Fixes written into the bytes of a file: those that do not meet, all others byte for byte as they were."""

from __future__ import annotations

from collections.abc import Sequence

from torchlint.errors import UnreadableSource
from torchlint.fixes.planning import Planned
from torchlint.source.edits import Replacement, edited, edited_text
from torchlint.source.syntax import parses
from torchlint.source.written_files import sources_of


def applied(data: bytes, shown: str, plans: Sequence[Planned]) -> tuple[bytes, list[Planned]]:
    """The file with as many of the fixes as fit together, and these; what is left waits for the next round."""
    chosen = apart(plans)
    try:
        return _written(data, shown, chosen), chosen
    except UnreadableSource:
        return _one_by_one(data, shown, chosen)


def _one_by_one(data: bytes, shown: str, plans: Sequence[Planned]) -> tuple[bytes, list[Planned]]:
    """The first of the fixes that can be written: the magics of a notebook may stand in the way of others."""
    for each in plans:
        try:
            return _written(data, shown, [each]), [each]
        except UnreadableSource:
            continue
    return data, []


def apart(plans: Sequence[Planned]) -> list[Planned]:
    """Those that neither overlap nor touch, the first of the file first. What two have in common is one change."""
    taken: list[Planned] = []
    changes: dict[int, set[Replacement]] = {}
    for each in sorted(plans, key=lambda one: (one.home, one.plan.changes[0].start, one.finding.code)):
        there = changes.setdefault(each.home, set())
        if not any(_meet(one, other) for one in each.plan.changes for other in there):
            taken.append(each)
            there.update(each.plan.changes)
    return taken


def _meet(one: Replacement, other: Replacement) -> bool:
    return one != other and one.start <= other.end and other.start <= one.end


def _written(data: bytes, shown: str, plans: Sequence[Planned]) -> bytes:
    """Raises UnreadableSource where what is read afterwards is not what was to be written, or is no Python."""
    for home in sorted({one.home for one in plans}):
        source = sources_of(data, shown)[home]
        given = (change for one in plans if one.home == home for change in one.plan.changes)
        changes = list(dict.fromkeys(given))
        wanted = edited_text(source, changes)
        data = edited(data, source, changes)
        if sources_of(data, shown)[home].text != wanted or not parses(wanted):
            raise UnreadableSource("the fixes of this file cannot be written as they are meant")
    return data
