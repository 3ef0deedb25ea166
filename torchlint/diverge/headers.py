"""What two recordings say of themselves, side by side: where they differ is often the answer already."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence

from torchlint.diverge.recordings import Recording
from torchlint.recording.journal.records import Header

RecordingPair = tuple[str, Recording, Recording]
"""A process by its role, as the one run has it and as the other."""
_MOST_NAMED = 3


def notes_of(pairs: Sequence[RecordingPair]) -> Iterator[str]:
    """Yield what sets the headers apart, and what of a recording is missing, once for all ranks alike."""
    ranks: dict[str, list[str]] = {}
    for name, first, other in pairs:
        for words in (*_apart(first.header, other.header), *_missing(first, other)):
            ranks.setdefault(words, []).append(name)
    for words, names in ranks.items():
        yield words if len(names) == len(pairs) else f"{_named(names)}: {words}"


def _apart(first: Header, other: Header) -> Iterator[str]:
    for ours, theirs in (
        (first.software, other.software),
        (first.machine, other.machine),
        (first.variables, other.variables),
        (first.switches, other.switches),
    ):
        yield from _values_apart(ours, theirs)
    commands = [shlex.join(each.argv[1:]) for each in (first, other)]
    yield from _values_apart(
        {"command": commands[0], "held": ", ".join(first.held), "varied": ", ".join(first.varied)},
        {"command": commands[1], "held": ", ".join(other.held), "varied": ", ".join(other.varied)},
    )


def _values_apart(ours: Mapping[str, str], theirs: Mapping[str, str]) -> Iterator[str]:
    for name in sorted({*ours, *theirs}):
        one, two = ours.get(name, ""), theirs.get(name, "")
        if one != two:
            yield f"{name}: {one or 'none'} in the first recording, {two or 'none'} in the second"


def _missing(first: Recording, other: Recording) -> Iterator[str]:
    if first.header.level != other.header.level:
        yield (
            f"the first was recorded at {first.header.level} level, the second at {other.header.level} level: what "
            "both have is compared"
        )
    for which, each in (("first", first), ("second", other)):
        if each.summary.end is None:
            yield f"the {which} recording is cut off (its program was killed, or runs still): read up to its last step"


def _named(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
