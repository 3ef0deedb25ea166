"""Answers that are worked out once.

A question about an expression leads through names to all that they may be bound to. Where names are bound in many
branches, to what other such names hold, every way through them would be walked: as many as there are branches, to the
power of the depth.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Concatenate, ParamSpec, Protocol, TypeVar


class Asked(Protocol):
    """What keeps answers to questions about itself: the facts of a file, or what a project works out."""

    answers: dict[object, object]
    """To questions that are worked out once."""
    provisional: dict[object, tuple[object, int]]
    """Answers to questions that are still open, each with the level of the one that settles it (see `followed`)."""
    level: int
    """How many questions are open, each asked by the one before."""
    cut: int
    """The lowest level on which the answer at hand hangs."""

    def spend(self, work: int = 1) -> None:
        """Count a question that has to be worked out."""


P = ParamSpec("P")
Self = TypeVar("Self", bound=Asked)
Answer = TypeVar("Answer")
Otherwise = TypeVar("Otherwise")

_UNASKED = object()
_MOST_NESTED = 30
"""Questions that ask others, one inside the other: the one bound for all of them."""


def memoized(question: Callable[Concatenate[Self, P], Answer]) -> Callable[Concatenate[Self, P], Answer]:
    """Keep what a question answers for a file as long as its tree. It may depend on nothing but its arguments."""

    @functools.wraps(question)
    def asked(facts: Self, /, *args: P.args, **kwargs: P.kwargs) -> Answer:
        answers = facts.answers
        key = (question, args, *kwargs.items()) if kwargs else (question, args)
        found = answers.get(key, _UNASKED)
        if found is _UNASKED:
            facts.spend()
            found = answers[key] = question(facts, *args, **kwargs)
        return found  # type: ignore[return-value]

    return asked


def followed(
    otherwise: Otherwise,
) -> Callable[[Callable[Concatenate[Self, P], Answer]], Callable[Concatenate[Self, P], Answer | Otherwise]]:
    """Let a question ask itself about what stands behind an expression, and so on; its answers are kept as well.

    What leads back to itself, or too far, is answered with `otherwise`. What hangs on such an answer is kept until the
    question is answered with which the circle began, and that alone for good: the others would hang on who asked first.
    """

    def decorated(
        question: Callable[Concatenate[Self, P], Answer],
    ) -> Callable[Concatenate[Self, P], Answer | Otherwise]:
        @functools.wraps(question)
        def asked(facts: Self, /, *args: P.args, **kwargs: P.kwargs) -> Answer | Otherwise:
            key = (question, args, *kwargs.items()) if kwargs else (question, args)
            answers, provisional, level = facts.answers, facts.provisional, facts.level
            found = answers.get(key, _UNASKED)
            if found is not _UNASKED:
                return found  # type: ignore[return-value]
            if key in provisional:
                found, cut = provisional[key]
                facts.cut = min(facts.cut, cut)
                return found  # type: ignore[return-value]
            if level >= _MOST_NESTED:
                facts.cut = 0
                return otherwise
            facts.spend()
            before, begun = facts.cut, len(provisional)
            provisional[key] = otherwise, level
            facts.level, facts.cut = level + 1, _MOST_NESTED
            try:
                found = question(facts, *args, **kwargs)
            except BaseException:
                _forget(provisional, begun)
                facts.level, facts.cut = level, before
                raise
            facts.level = level
            if facts.cut >= level:
                if len(provisional) == begun + 1:  # most
                    del provisional[key]
                else:
                    _forget(provisional, begun)
                facts.cut, answers[key] = before, found
            else:
                provisional[key] = found, facts.cut
                facts.cut = min(before, facts.cut)
            return found

        return asked

    return decorated


def _forget(provisional: dict[object, tuple[object, int]], begun: int) -> None:
    """Drop the latest answers, down to so many."""
    for _ in range(len(provisional) - begun):
        provisional.popitem()
