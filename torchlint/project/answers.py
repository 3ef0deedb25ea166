"""What single files answer to judges, kept from run to run: most of these questions need the whole tree of a file."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeVar

import msgspec

from torchlint.encoding import decoded, encoded

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

Answer = TypeVar("Answer")
_KEPT = 2_000_000
"""Characters of the files whose trees are kept for the questions that come next."""
_PLAIN = (str, int, msgspec.Struct, type(None))


class KeptAnswers(Protocol):
    """The answers of earlier runs that still hold."""

    def answer(self, path: str, question: bytes) -> bytes | None: ...

    def keep_answer(self, path: str, question: bytes, answer: bytes) -> None: ...

    def made_of(self, name: str, parts: object, make: Callable[[], Answer]) -> Answer: ...


class Interview:
    """Asks files, and remembers what they answer; `load` gives the whole facts of one."""

    def __init__(self, load: Callable[[str], FileFacts | None], kept: KeptAnswers | None) -> None:
        self._load = load
        self._kept = kept
        self._at_hand: dict[str, FileFacts | None] = {}
        """By path, the one that was asked last at the end."""

    def read(self, path: str) -> FileFacts | None:
        """The whole facts of a file, which may be read anew."""
        is_new = path not in self._at_hand
        facts = self._at_hand[path] = self._load(path) if is_new else self._at_hand.pop(path)
        if is_new:
            self._drop_oldest()
        return facts

    def _drop_oldest(self) -> None:
        sizes = {path: 0 if facts is None else len(facts.source.text) for path, facts in self._at_hand.items()}
        for path in list(self._at_hand)[:-1]:
            if sum(sizes.values()) <= _KEPT:
                return
            del sizes[path]
            facts = self._at_hand.pop(path)
            if facts is not None:
                facts.answers.clear()  # some hold the facts that they are of, and no collector runs

    def answer(
        self, path: str, question: object | None, kind: type[Answer], ask: Callable[[FileFacts], Answer]
    ) -> Answer | None:
        """What `ask` says of a file, plain data of a kind; None for a file that cannot be read.

        The question is plain data that tells what is asked; without one nothing is remembered.
        """
        key = None if question is None or self._kept is None else encoded(question)
        if key is None or self._kept is None:
            facts = self.read(path)
            return None if facts is None else ask(facts)
        known = decoded(self._kept.answer(path, key), kind)
        if known is not None:
            return known
        facts = self.read(path)
        found = None if facts is None else ask(facts)
        body = None if found is None else encoded(found)
        if body is not None:
            self._kept.keep_answer(path, key, body)
        return found


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
    return all(map(_is_plain, given)) if isinstance(given, tuple | frozenset) else isinstance(given, _PLAIN)
