"""Tasks of pools that finish in an order of our choice."""

from __future__ import annotations

import concurrent.futures
import contextlib
import multiprocessing.pool
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from typing_extensions import Self


class OrderedCompletions:
    """While it is entered, results come in the order of the tasks (0), or the other way round (1)."""

    def __init__(self, order: int) -> None:
        self.taken = 0
        """How many results were taken as they finished."""
        self.has_single_worker = False
        """One worker alone finishes its tasks in their order: turning it round would prove nothing."""
        self._order = order
        self._undo = contextlib.ExitStack()

    def __enter__(self) -> Self:
        for owner in (concurrent.futures, concurrent.futures._base):  # noqa: SLF001 - the name stands in both
            self._replace(owner, "as_completed", lambda _: self._as_completed)
        self._replace(multiprocessing.pool.Pool, "imap_unordered", self._turning)
        for kind in (concurrent.futures.ThreadPoolExecutor, concurrent.futures.ProcessPoolExecutor):
            self._replace(kind, "__init__", self._counting("_max_workers"))
        self._replace(multiprocessing.pool.Pool, "__init__", self._counting("_processes"))
        return self

    def __exit__(self, *_: object) -> None:
        self._undo.close()

    def _replace(self, owner: Any, name: str, wrap: Callable[[Any], Any]) -> None:  # noqa: ANN401 - module or class
        original = getattr(owner, name)
        setattr(owner, name, wrap(original))
        self._undo.callback(setattr, owner, name, original)

    def _counting(self, workers: str) -> Callable[[Any], Any]:
        def wrap(original: Callable[..., None]) -> Callable[..., None]:
            def make(pool: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - as the pool has it
                original(pool, *args, **kwargs)
                self.has_single_worker |= getattr(pool, workers, None) == 1

            return make

        return wrap

    def _as_completed(self, futures: Iterable[Any], timeout: float | None = None) -> Iterator[Any]:
        tasks = list(futures)
        concurrent.futures.wait(tasks, timeout=timeout)
        return self._ordered(tasks)

    def _imap(self, pool: Any, function: Any, items: Iterable[Any], chunksize: int = 1) -> Iterator[Any]:  # noqa: ANN401
        return self._ordered(list(pool.imap(function, items, chunksize)))

    def _turning(self, _: object) -> Callable[..., Iterator[Any]]:
        def imap(pool: Any, *args: Any) -> Iterator[Any]:  # noqa: ANN401 - as the pool has it
            return self._imap(pool, *args)

        return imap

    def _ordered(self, results: list[Any]) -> Iterator[Any]:
        self.taken = max(self.taken, len(results))
        return iter(results if self._order == 0 else results[::-1])
