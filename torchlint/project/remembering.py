"""Answers that an object remembers: many findings ask the same of one program, or of one definition."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar


class _Remembering(Protocol):
    memory: dict[Any, Any]


P = ParamSpec("P")
Asked = TypeVar("Asked", bound=_Remembering)
Answer = TypeVar("Answer")


def remembered(question: Callable[Concatenate[Asked, P], Answer]) -> Callable[Concatenate[Asked, P], Answer]:
    """Keep what a method answers in `memory` of its object. It may depend on nothing but its arguments."""

    @functools.wraps(question)
    def asked(self: Asked, /, *args: P.args, **kwargs: P.kwargs) -> Answer:
        key = (question, args, *kwargs.items())
        if key not in self.memory:
            self.memory[key] = question(self, *args, **kwargs)
        found: Answer = self.memory[key]
        return found

    return asked
