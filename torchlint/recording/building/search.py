"""Tries guesses and their repairs, the cheapest first, until one holds or the time is up."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

from torchlint.recording.building.failures import forgotten, plain, short
from torchlint.recording.building.trial import in_time
from torchlint.recording.clock import Deadline
from torchlint.recording.errors import CannotRun
from torchlint.recording.loading.standing_in import missing_behind, refused_by_torch
from torchlint.recording.loading.stubs import StubbedCallError

Guess = TypeVar("Guess")
Result = TypeVar("Result")

_MOST_ATTEMPTS = 400
_REPAIRS_OF_ONE = 40
_MOST_STOOD_IN = 4
"""Attempts that come to a library, or a release of torch, that is not installed: the others would too."""
_STEP, _NEXT_GUESS, _NEXT_REPAIR = 0.3, 1.0, 0.25
"""What a repair costs, a further guess, and each repair after the first: a long chain of good repairs comes first."""


class Search(Generic[Guess, Result]):
    """Guesses in the order of their cost. Every result is handed out; who has enough stops asking.

    `progress` says how far an attempt came: repairs of the one that came furthest are tried before all others.
    """

    def __init__(
        self,
        attempt: Callable[[Guess], Result],
        repaired: Callable[[BaseException, Guess], Iterable[Guess]],
        deadline: Deadline,
        progress: Callable[[BaseException], tuple[int, ...]] = lambda _error: (),
    ) -> None:
        self._attempt = attempt
        self._repaired = repaired
        self._deadline = deadline
        self._progress = progress
        self._furthest: tuple[int, ...] = ()
        self._last = ""
        """The error of the attempt that came furthest, in words."""
        self._waiting: list[tuple[float, int, Guess]] = []
        self._seen: set[str] = set()
        self._count = itertools.count()
        self.attempts = 0
        self._stood_in = 0
        self._errors: dict[str, tuple[int, Exception]] = {}

    @property
    def obstacles(self) -> list[Exception]:
        """What no repair gets past: what is not installed, what stopped what came furthest, what comes often."""
        often = sorted(self._errors, key=lambda words: self._errors[words][0], reverse=True)
        missing = [words for words in often if isinstance(self._errors[words][1], StubbedCallError)]
        first = [*missing, *([self._last] if self._last else ())]
        return [self._errors[words][1] for words in dict.fromkeys([*first, *often])]

    def suggest(self, guesses: Iterable[Guess]) -> None:
        """Guesses that what came of a result calls for: they are tried next."""
        first = self._waiting[0][0] if self._waiting else 0.0
        for place, guess in enumerate(itertools.islice(guesses, _REPAIRS_OF_ONE)):
            self._add(guess, first - _STEP + place * _NEXT_REPAIR / 4)

    def results(self, guesses: Iterable[Guess]) -> Iterator[tuple[Guess, Result]]:
        for place, guess in enumerate(guesses):
            self._add(guess, place * _NEXT_GUESS)
        while self._waiting and self.attempts < _MOST_ATTEMPTS and not self._deadline.is_over:
            cost, _, guess = heapq.heappop(self._waiting)
            self.attempts += 1
            try:
                with in_time(self._deadline):
                    result = self._attempt(guess)
            except CannotRun:
                raise
            except Exception as error:  # noqa: BLE001 - anything the user's code objects to
                self._refused(plain(error), guess, cost)
                continue
            yield guess, result

    def _refused(self, error: Exception, guess: Guess, cost: float) -> None:
        reached = self._progress(error)
        if reached > self._furthest:
            self._last = short(error)
            self._furthest, cost = reached, min(cost, self._waiting[0][0] if self._waiting else cost) - _STEP
        for place, other in enumerate(itertools.islice(self._repaired(error, guess), _REPAIRS_OF_ONE)):
            self._add(other, cost + _STEP + place * _NEXT_REPAIR)
        words = short(error)
        if missing_behind(error) or refused_by_torch(error):
            error = StubbedCallError(words)
        self._stood_in += isinstance(error, StubbedCallError)
        if self._stood_in == _MOST_STOOD_IN:
            self._waiting.clear()
        times, first = self._errors.get(words, (0, error))
        self._errors[words] = times + 1, forgotten(first)

    def _add(self, guess: Guess, cost: float) -> None:
        try:
            key = repr(guess)
        except Exception:  # noqa: BLE001 - the representation of an object of the user's
            key = f"{id(guess)}"
        if key not in self._seen:
            self._seen.add(key)
            heapq.heappush(self._waiting, (cost, next(self._count), guess))
