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

_UNASKED = object()


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
