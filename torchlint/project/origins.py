"""Where a value comes from that other files have: their results, their constants, what they give a function."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

from torchlint.facts.origins import Argument, Origin, called_as, definitions_behind
from torchlint.project.answers import name_of

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts
    from torchlint.facts.flow.values import End
    from torchlint.project.index import Project

_MOST = 20
"""Origins of one value that are asked for: what has more may be anything."""
Answer = TypeVar("Answer")


class _Answer(msgspec.Struct, Generic[Answer], frozen=True, array_like=True):
    """An answer, or the origin that is asked next."""

    answer: Answer | None = None
    origin: Origin | None = None


class _Answers(msgspec.Struct, Generic[Answer], frozen=True, array_like=True):
    """What one file answers; not `is_seen` where it does not say where the value comes from."""

    is_seen: bool
    all: tuple[_Answer[Answer], ...]


def origins_answered(
    project: Project,
    origins: Iterable[Origin],
    asked: Callable[[FileFacts, End], Iterable[Answer | Origin | None]],
    kind: type[Answer] | None = None,
) -> Iterator[Answer | None]:
    """What a question answers of a value wherever it may come from; None for what is not seen.

    `asked` goes on with where the value comes from in one file: to an answer, or to the next files. Answers of a
    `kind` are plain data, and kept for later runs.
    """
    waiting, seen = deque(origins), set[Origin]()
    while waiting:
        origin = waiting.popleft()
        if origin in seen:
            continue
        seen.add(origin)
        files = _files_behind(project, origin) if len(seen) <= _MOST else []
        every = [_answers(project, path, origin, asked, kind) for path in files]
        found = [answers.all for answers in every if answers is not None and answers.is_seen]
        if not found:
            yield None
        for one in (answer for answers in found for answer in answers):
            if one.origin is not None:
                waiting.append(one.origin)
            else:
                yield one.answer


def _answers(
    project: Project,
    path: str,
    origin: Origin,
    asked: Callable[[FileFacts, End], Iterable[Answer | Origin | None]],
    kind: type[Answer] | None,
) -> _Answers[Answer] | None:
    def ask(facts: FileFacts) -> _Answers[Answer]:
        ends = list(definitions_behind(facts, origin))
        every = (one for end in ends for one in asked(facts, end))
        found = tuple(_Answer(None, one) if isinstance(one, Origin) else _Answer(one) for one in every)
        return _Answers(bool(ends), found)

    name = None if kind is None else name_of(asked)
    question = None if name is None else ("origin", name, origin)
    told: Any = _Answers[kind]  # type: ignore[valid-type]
    return project.interview.answer(path, question, told, ask)


def _files_behind(project: Project, origin: Origin) -> list[str]:
    home = origin.symbol.partition("::")[0]
    is_given = isinstance(origin.port, Argument)
    users = set().union(*map(project.flows.users_of, called_as(origin.symbol))) if is_given else set()
    return sorted(users - {home}) if is_given else [home]
