"""What files answer to judges is kept under names that plain data can have."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from torchlint.facts.memoizing import memoized
from torchlint.facts.origins import Argument
from torchlint.facts.values import Values
from torchlint.project.answers import Answer, Answering, Interview, name_of


def asked(*_: object, **__: object) -> None:
    """A question."""


def facts_of() -> Any:  # noqa: ANN401 - stands for the facts of a file
    """An interview looks at nothing of them."""
    return SimpleNamespace()


class _Kept:
    def __init__(self) -> None:
        self.answers: dict[tuple[str, bytes], bytes] = {}

    def answer(self, path: str, question: bytes) -> bytes | None:
        return self.answers.get((path, question))

    def keep_answer(self, path: str, question: bytes, answer: bytes) -> None:
        self.answers[path, question] = answer

    def made_of(self, name: str, parts: object, make: Callable[[], Answer]) -> Answer:
        raise AssertionError(f"{name} of {parts} is not asked of {make}")


def test_what_is_named() -> None:
    whole = f"{__name__}.asked"
    assert name_of(asked) == (whole,)
    assert name_of(functools.partial(asked, 1, words=("a",))) == (whole, 1, ("words", ("a",)))
    assert name_of(functools.partial(asked, Argument("seed", 0))) == (whole, Argument("seed", 0))
    assert name_of(lambda: None) is None
    assert name_of(_Kept().answer) is None
    assert name_of(functools.partial(asked, ast.Constant(1))) is None
    assert name_of(functools.partial(asked, shown=ast.Constant(1))) is None
    assert name_of(functools.partial(asked, (1, ast.Constant(1)))) is None


def test_a_file_is_asked_once() -> None:
    seen = []
    kept = _Kept()
    facts = facts_of()
    interview = Interview(lambda _: facts, kept)

    def ask(facts: object) -> Values:
        seen.append(facts)
        return Values((1, "a", None), complete=True)

    for _ in range(2):
        assert interview.answer("a.py", ("constants", 1), Values, ask) == Values((1, "a", None), complete=True)
    assert seen == [facts]
    interview.answer("a.py", ("constants", 2), Values, ask)
    interview.answer("b.py", ("constants", 1), Values, ask)
    interview.answer("b.py", None, Values, ask)
    assert len(seen) == 4
    kept.answers = dict.fromkeys(kept.answers, b"\xc1")
    assert interview.answer("a.py", ("constants", 1), Values, ask) == Values((1, "a", None), complete=True)
    assert len(seen) == 5


def test_an_answer_that_no_file_can_hold_is_given_all_the_same() -> None:
    interview = Interview(lambda _: facts_of(), _Kept())
    for _ in range(2):
        assert interview.answer("a.py", "what", Values, lambda _: Values((1 << 80,))) == Values((1 << 80,))


def test_a_file_that_cannot_be_read_says_nothing() -> None:
    interview = Interview(lambda _: None, _Kept())
    assert interview.answer("a.py", "what", Values, lambda _: Values()) is None


class _Counting(Answering):
    def __init__(self) -> None:
        super().__init__()
        self.asked: list[int] = []

    @memoized
    def double(self, number: int) -> int:
        self.asked.append(number)
        return 2 * number


def test_an_object_works_out_each_answer_once() -> None:
    counting, other = _Counting(), _Counting()
    assert [counting.double(number) for number in (1, 2, 1)] == [2, 4, 2]
    assert counting.asked == [1, 2]
    assert other.double(1) == 2
    assert other.asked == [1]
