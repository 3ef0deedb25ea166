"""Answers that are kept: of single files from run to run, since most need a whole tree, and of objects of one run."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ParamSpec, Protocol, TypeVar

import msgspec

from torchlint.encoding import decoded, encoded
from torchlint.errors import OverBudget

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

Answer = TypeVar("Answer")
P = ParamSpec("P")
_PLAIN = (str, int, msgspec.Struct, type(None))


class KeptAnswers(Protocol):
    """The answers of earlier runs that still hold."""

    def answer(self, path: str, question: bytes) -> bytes | None: ...

    def keep_answer(self, path: str, question: bytes, answer: bytes) -> None: ...

    def made_of(self, name: str, parts: object, make: Callable[[], Answer]) -> Answer: ...


class Interview:
    """Asks files, and remembers what they answer; `load` gives the whole facts of one."""

    def __init__(self, load: Callable[[str], FileFacts | None], kept: KeptAnswers | None) -> None:
        self.read = load
        self._kept = kept

    def answer(
        self, path: str, question: object | None, kind: type[Answer], ask: Callable[[FileFacts], Answer]
    ) -> Answer | None:
        """What `ask` says of a file, plain data of a kind; None for a file that cannot be read.

        The question is plain data that tells what is asked; without one nothing is remembered.
        """
        kept = self._kept
        key = None if question is None or kept is None else encoded(question)
        known = None if key is None or kept is None else decoded(kept.answer(path, key), kind)
        if known is not None:
            return known
        facts = self.read(path)
        found = None if facts is None else ask(facts)
        body = None if found is None or key is None else encoded(found)
        if kept is not None and key is not None and body is not None:
            kept.keep_answer(path, key, body)
        return found

    def answer_if_it_can(
        self, path: str, question: object, kind: type[Answer], ask: Callable[[FileFacts], Answer]
    ) -> Answer | None:
        """The same; None as well for a file that the question is too much for: as if its own check had given it up."""
        try:
            return self.answer(path, question, kind, ask)
        except (OverBudget, RecursionError):
            return None


@dataclass(kw_only=True, eq=False)
class Answering:
    """Keeps what its methods answer that are `@memoized` or `@followed`: see facts/memoizing.py for the fields."""

    answers: dict[object, object] = field(default_factory=dict)
    provisional: dict[object, tuple[object, int]] = field(default_factory=dict)
    level: int = 0
    cut: int = 0

    def spend(self, work: int = 1) -> None:
        """Budgets are those of files: here nothing is counted."""


def name_of(asked: Callable[..., object]) -> tuple[object, ...] | None:
    """A name for what is asked: a function or a class, or a partial one that is given plain data; None for others.

    >>> name_of(name_of)
    ('torchlint.project.answers.name_of',)
    """
    if isinstance(asked, functools.partial):
        inner, given = name_of(asked.func), (*asked.args, *sorted(asked.keywords.items()))
        return (*inner, *given) if inner is not None and all(map(_is_plain, given)) else None
    name = getattr(asked, "__qualname__", "<")
    return None if "<" in name or hasattr(asked, "__self__") else (f"{asked.__module__}.{name}",)


def _is_plain(given: object) -> bool:
    return all(map(_is_plain, given)) if isinstance(given, (tuple, frozenset)) else isinstance(given, _PLAIN)
