"""Work over many items in several processes; one that dies costs its item, not the run."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Generic, TypeVar

from torchlint.engine.workers import with_large_stack, work_through

Item = TypeVar("Item")
Result = TypeVar("Result")

_ROUNDS = 12
"""Chunks for each process: near the end, one waits for the other's last."""
_LARGEST = 24
"""Items of a chunk: after a death, each of them is gone through alone."""


class Processes(Generic[Item, Result]):
    """`work` over many items, with an item that kills its process answered by `on_death`."""

    def __init__(
        self,
        work: Callable[[Item], Result],
        on_death: Callable[[Item], Result],
        jobs: int,
        size: Callable[[Item], int],
    ) -> None:
        self._work = work
        self._on_death = on_death
        self._jobs = jobs
        self._size = size

    def map(self, items: Sequence[Item]) -> Iterator[Result]:
        """Chunks in several processes. When one dies, the chunks it may have held are gone through one by one."""
        chunks = list(self._chunks(items))
        while chunks:
            suspects: list[Sequence[Item]] = []
            chunks.reverse()
            with self._pool(min(self._jobs, len(chunks))) as pool:
                yield from self._until_a_death(pool, chunks, suspects)
            chunks.reverse()
            for suspect in suspects:
                for item in suspect:
                    yield self._alone(item)

    def _chunks(self, items: Sequence[Item]) -> Iterator[list[Item]]:
        """Items that stand together, of about the same size in all: neighbours ask for the same others."""
        sizes = [self._size(item) for item in items]
        most = sum(sizes) / (self._jobs * _ROUNDS)
        chunk: list[Item] = []
        held = 0
        for item, size in zip(items, sizes, strict=True):
            if chunk and (held + size > most or len(chunk) == _LARGEST):
                yield chunk
                chunk, held = [], 0
            chunk.append(item)
            held += size
        if chunk:
            yield chunk

    def _until_a_death(
        self, pool: ProcessPoolExecutor, chunks: list[list[Item]], suspects: list[Sequence[Item]]
    ) -> Iterator[Result]:
        """Take chunks off the end while all goes well. Few are out at a time: after a death, only they lie open."""
        waiting: dict[Future[list[Result]], Sequence[Item]] = {}
        while waiting or (chunks and not suspects):
            while chunks and not suspects and len(waiting) < 2 * self._jobs:
                try:
                    future: Future[list[Result]] = pool.submit(_work_in_worker, chunks[-1])
                except BrokenProcessPool:
                    break
                waiting[future] = chunks.pop()
            done, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                chunk = waiting.pop(future)
                try:
                    yield from future.result()
                except BrokenProcessPool:
                    suspects.append(chunk)

    def _alone(self, item: Item) -> Result:
        """A file that was out when a process died, in a process of its own: most of them are innocent."""
        try:
            with self._pool(1) as pool:
                return pool.submit(_work_in_worker, [item]).result()[0]
        except BrokenProcessPool:
            return self._on_death(item)

    def _pool(self, size: int) -> ProcessPoolExecutor:
        method = "fork" if sys.platform == "linux" else "spawn"
        context = multiprocessing.get_context(method)
        return ProcessPoolExecutor(size, mp_context=context, initializer=_start_worker, initargs=(self._work,))


_worker: list[Callable[..., object]] = []
"""Set once, when a worker process starts."""


def _start_worker(work: Callable[..., object]) -> None:
    _worker[:] = [work]


def _work_in_worker(chunk: Sequence[Item]) -> list[Result]:
    work: Callable[[Item], Result] = _worker[0]  # type: ignore[assignment]
    return with_large_stack(lambda: work_through(work, chunk))
