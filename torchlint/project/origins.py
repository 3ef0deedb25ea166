"""Where a value comes from that other files have: their results, their constants, what they give a function."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

from torchlint.facts.origins import Argument, Origin, called_as, definitions_behind

if TYPE_CHECKING:
    from torchlint.facts.ends import End
    from torchlint.facts.file import FileFacts
    from torchlint.project.index import Project

_MOST = 20
"""Origins of one value that are asked for: what has more may be anything."""
Answer = TypeVar("Answer")


def origins_answered(
    project: Project, origins: Iterable[Origin], asked: Callable[[FileFacts, End], Iterable[Answer | Origin | None]]
) -> Iterator[Answer | None]:
    """What a question answers of a value wherever it may come from; None for what is not seen.

    `asked` goes on with where the value comes from in one file: to an answer, or to the next files.
    """
    waiting, seen = deque(origins), set[Origin]()
    while waiting:
        origin = waiting.popleft()
        if origin in seen:
            continue
        seen.add(origin)
        found = list(_definitions(project, origin)) if len(seen) <= _MOST else []
        if not found:
            yield None
        for facts, end in found:
            for one in asked(facts, end):
                if isinstance(one, Origin):
                    waiting.append(one)
                else:
                    yield one


def _definitions(project: Project, origin: Origin) -> Iterator[tuple[FileFacts, End]]:
    home = origin.symbol.partition("::")[0]
    is_given = isinstance(origin.port, Argument)
    users = set().union(*map(project.flows.users_of, called_as(origin.symbol))) if is_given else set()
    for path in sorted(users - {home}) if is_given else [home]:
        facts = project.flows.read(path)
        if facts is not None:
            yield from ((facts, end) for end in definitions_behind(facts, origin))
