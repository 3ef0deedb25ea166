"""What changed between an earlier audit and this one: which lines are new, and which got better."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from torchlint import __version__
from torchlint.audit.choosing import Request
from torchlint.audit.earlier import Earlier
from torchlint.audit.page import Audit, Change, Comparison, Light, Line, ProgramChange, Section
from torchlint.diagnostics import Note

_PLACE = re.compile(r"[^\s`]+:(?:cell \d+:)?\d+")
_COUNT = re.compile(r"\d[\d.,]*(\s+\w+?)s?\b")
_PLACES = re.compile(r"(\d+) places\. ")
"""How the line of a rule begins that found several (see `Material.line_of`)."""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def compared(audit: Audit, earlier: Earlier, entries: Sequence[str]) -> Audit:
    """The audit with what changed since an earlier one. Of that, only programs that `entries` ask for count."""
    now = {PurePath(page.subject.name).as_posix(): page.sections for page in audit.pages}
    requests = [Request.parse(entry) for entry in entries] or [Request(Path())]
    before = {name: found for name, found in earlier.programs.items() if _is_asked(name, requests)}
    changes = [_program_change(name, before.get(name), sections) for name, sections in now.items()]
    gone = [_program_change(name, sections, None) for name, sections in before.items() if name not in now]
    found = tuple(change for change in (*changes, *gone) if change.new or change.gone or change.status != "kept")
    notes = _notes(earlier, is_other=bool(now and earlier.programs) and earlier.programs.keys().isdisjoint(now))
    return replace(audit, notes=(*audit.notes, *notes), compared=Comparison(str(earlier.path), found))


def _notes(earlier: Earlier, *, is_other: bool) -> Iterator[Note]:
    if earlier.version != __version__:
        yield Note(f"was written by torchlint {earlier.version}, and this is {__version__}", str(earlier.path))
    if is_other:
        yield Note("has none of these programs; programs are compared by their path as shown", str(earlier.path))


def _is_asked(name: str, requests: Sequence[Request]) -> bool:
    """Whether a program of the earlier audit would be on a page if it were still there."""
    file, _, command = name.partition("::")
    path = Path(file).absolute()
    return any(
        request.path.absolute() in path.parents
        or (request.path.absolute() == path and request.command in (None, command))
        for request in requests
    )


def _program_change(name: str, before: Sequence[Section] | None, now: Sequence[Section] | None) -> ProgramChange:
    if now is None:
        return ProgramChange(name, "gone")
    pairs = list(_changed(_placed(before or ()), _placed(now)))
    return ProgramChange(
        name=name,
        status="new" if before is None else "kept",
        new=_changes((new, old) for old, new in pairs if _is_new(old, new)),
        gone=_changes((old, new) for old, new in pairs if not _is_new(old, new)),
    )


def _is_new(old: _Placed | None, new: _Placed | None) -> bool:
    """Of two lines that differ: as much with other words is another reason, or another point left open."""
    return _weight(new) >= _weight(old)


def _changes(pairs: Iterable[_Pair]) -> tuple[Change, ...]:
    """The first of each pair is what to tell; the worst come first."""
    found = [Change(one.section.title, one.line, other.line if other else None) for one, other in pairs if one]
    return tuple(sorted(found, key=lambda change: -(change.line.light or Light.GREEN)))


@dataclass(frozen=True, slots=True)
class _Placed:
    """A line with its section."""

    section: Section
    line: Line

    @property
    def topic(self) -> tuple[str, str]:
        """What it is about, whatever it says."""
        return (self.section.key, _steady(self.line.label))

    @property
    def words(self) -> tuple[str, str, str, str]:
        """What makes it the same line wherever it stands."""
        return (*self.topic, self.line.code, _steady(self.line.text))


def _steady(text: str) -> str:
    """The text without what changes as code moves: `2 calls at a.py:3` is `1 call at b.py:7`."""
    return _NUMBER.sub("0", _COUNT.sub(r"0\1", _PLACE.sub("", text)))


def _placed(sections: Sequence[Section]) -> list[_Placed]:
    """All lines, the worst first, so that of several that say the same the worst are compared."""
    found = [_Placed(section, line) for section in sections for line in section.lines]
    return sorted(found, key=lambda placed: -_light(placed))


_Pair = tuple[_Placed | None, _Placed | None]
"""A line before, and the line now."""


def _light(placed: _Placed | None) -> Light:
    return (placed.line.light if placed else None) or Light.GREEN


def _weight(placed: _Placed | None) -> tuple[Light, int]:
    """How bad a line is: its light, and at how many places its rule found something."""
    places = _PLACES.match(placed.line.text) if placed else None
    return _light(placed), int(places[1]) if places else 1


def _changed(before: list[_Placed], now: list[_Placed]) -> Iterator[_Pair]:
    """The lines that differ: one without a partner, and two of one topic whose words or lights are not the same."""
    same, before, now = _paired(before, now, lambda placed: placed.words)
    reworded, before, now = _paired(before, now, lambda placed: placed.topic)
    alone: list[_Pair] = [*((one, None) for one in before), *((None, one) for one in now)]
    differing = [pair for pair in same if _weight(pair[0]) != _weight(pair[1])]
    yield from (pair for pair in (*differing, *reworded, *alone) if max(map(_light, pair)) > Light.GREEN)


def _paired(
    before: list[_Placed], now: list[_Placed], key: Callable[[_Placed], object]
) -> tuple[list[_Pair], list[_Placed], list[_Placed]]:
    """Lines with equal keys, and those that have no partner."""
    waiting: dict[object, deque[_Placed]] = defaultdict(deque)
    for old in before:
        waiting[key(old)].append(old)
    pairs: list[_Pair] = []
    rest: list[_Placed] = []
    for new in now:
        if waiting[key(new)]:
            pairs.append((waiting[key(new)].popleft(), new))
        else:
            rest.append(new)
    return pairs, [old for olds in waiting.values() for old in olds], rest
