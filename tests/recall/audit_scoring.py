"""What the audit pages of a repository say of the causes that people read in it: red, amber, green or nothing."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tests.recall.scoring import Read
from torchlint.audit.page import Light, Line, Page

VERDICTS = ("red", "amber", "green", "silent", "no page")
_SECTIONS = {
    "unseeded-program": {"seeds"},
    "seed-in-parent-only": {"seeds"},
    "draws-in-prediction": {"seeds"},
    "entropy-seed": {"seeds"},
    "late-seed": {"seeds"},
    "resume": {"restarts"},
    "kernels-not-restricted": {"mode", "operators"},
    "cudnn-benchmark": {"switches"},
    "unseeded-environment": {"randomness"},
}
"""The sections that answer for what a whole program does, by the kind of the cause."""
_BESIDE = {"randomness"}
"""The section that may answer for them by a line near by, as well."""
_OF_LINES = {
    "nondeterministic-op": {"operators"},
    "uninitialised-memory": {"operators"},
    "listing-order": {"order"},
    "set-order": {"order"},
    "salted-hash": {"order"},
    "order-of-results": {"order"},
    "threads": {"workers", "order"},
    "async-race": {"workers", "order"},
    "shared-parameters": {"workers"},
}
"""The sections that answer for what one line does: there a tick would be wrong."""


@dataclass(frozen=True, slots=True)
class Scored:
    """What the pages of one repository say: a verdict for each cause, and the number of amber lines of each page.

    A verdict is `red`, `amber`, `green` (the point has a tick), `silent` (a page holds the file, and neither ticks nor
    names the point) or `no page`.
    """

    verdicts: dict[Read, str]
    places: dict[Read, int]
    """The place, from 1, of the line that names a cause, among the red and amber lines of its page."""
    ambers: tuple[int, ...]

    @property
    def median_amber(self) -> float:
        return statistics.median(self.ambers) if self.ambers else 0


def scored(causes: Sequence[Read], pages: Sequence[Page]) -> Scored:
    """The best verdict of any page for each cause."""
    verdicts, places = {}, {}
    for one in causes:
        own = [page for page in pages if any(one.is_of(file) for file in _files(page))]
        naming = [(line, place) for page in own for line, place in _naming(one, page)]
        worst = max((line.light for line, _ in naming if line.light is not None), default=None)
        if worst is not None:
            verdicts[one] = worst.label
            places[one] = min(place for _, place in naming)
        else:
            verdicts[one] = "no page" if not own else "green" if _is_ticked(one, own) else "silent"
    return Scored(verdicts, places, tuple(page.count(Light.AMBER) for page in pages if not page.subject.is_example))


def _files(page: Page) -> Iterator[str]:
    """The files that a page covers, and those that its lines name beside them: the source of a kernel."""
    yield from page.subject.files
    yield from (spot.location.path for section in page.sections for line in section.lines for spot in line.spots)


def _naming(cause: Read, page: Page) -> Iterator[tuple[Line, int]]:
    """The red and amber lines of a page that name a cause, with their places."""
    keys = _OF_LINES.get(cause.kind) or (_BESIDE if cause.kind in _SECTIONS else None)
    key_of = {section.title: section.key for section in page.sections}
    for place, (title, line) in enumerate(page.ranked, 1):
        is_of_program = key_of[title] in _SECTIONS.get(cause.kind, ())
        is_near = any(cause.is_near(spot.location) for spot in line.spots) and (keys is None or key_of[title] in keys)
        if is_of_program or is_near:
            yield line, place


def _is_ticked(cause: Read, pages: Sequence[Page]) -> bool:
    """Whether the section that answers for a cause has a tick on some page."""
    keys = _SECTIONS.get(cause.kind) or _OF_LINES.get(cause.kind) or set()
    return any(section.light is Light.GREEN for page in pages for section in page.sections if section.key in keys)
