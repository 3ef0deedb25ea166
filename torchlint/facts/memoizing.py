"""Answers that are worked out once.

A question about an expression leads through names to all that they may be bound to. Where names are bound in many
branches, to what other such names hold, every way through them would be walked: as many as there are branches, to the
power of the depth.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

P = ParamSpec("P")
Answer = TypeVar("Answer")
Otherwise = TypeVar("Otherwise")

_UNASKED = object()
_MOST_NESTED = 30
"""Questions that ask others, one inside the other: the one bound for all of them."""


def memoized(question: Callable[Concatenate[FileFacts, P], Answer]) -> Callable[Concatenate[FileFacts, P], Answer]:
    """Keep what a question answers for a file as long as its tree. It may depend on nothing but its arguments."""

    @functools.wraps(question)
    def asked(facts: FileFacts, /, *args: P.args, **kwargs: P.kwargs) -> Answer:
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
) -> Callable[[Callable[Concatenate[FileFacts, P], Answer]], Callable[Concatenate[FileFacts, P], Answer | Otherwise]]:
    """Let a question ask itself about what stands behind an expression, and so on; its answers are kept as well.

    What leads back to itself, or too far, is answered with `otherwise`. What hangs on such an answer is told, and kept
    only by the question with which the circle began: it would hang on who asked first.
    """

    def decorated(
        question: Callable[Concatenate[FileFacts, P], Answer],
    ) -> Callable[Concatenate[FileFacts, P], Answer | Otherwise]:
        @functools.wraps(question)
        def asked(facts: FileFacts, /, *args: P.args, **kwargs: P.kwargs) -> Answer | Otherwise:
            key = (question, args, *kwargs.items())
            if key in facts.answers:
                return facts.answers[key]  # type: ignore[return-value]
            level = len(facts.asking)
            if key in facts.asking or level >= _MOST_NESTED:
                facts.cut = min(facts.cut, facts.asking.get(key, 0))
                return otherwise
            facts.spend()
            facts.asking[key], before, facts.cut = level, facts.cut, _MOST_NESTED
            try:
                found = question(facts, *args, **kwargs)
            finally:
                del facts.asking[key]
                is_whole = facts.cut >= level
                facts.cut = before if is_whole else min(before, facts.cut)
            if is_whole:
                facts.answers[key] = found
            return found

        return asked

    return decorated
