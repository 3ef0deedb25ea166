"""Work over many items in several processes; one that dies costs its item, not the run."""

from __future__ import annotations

import contextlib
import functools
import itertools
import multiprocessing
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from queue import SimpleQueue
from typing import Generic, TypeVar

from torchlint.engine.shares import Shares
from torchlint.engine.workers import Exchange, with_large_stack, work_through

Item = TypeVar("Item")
Result = TypeVar("Result")

_AHEAD = 2
"""Chunks that a process has: one at work and one to go on with."""
_MOST = 60
"""Windows waits for 63 things at once."""
_CONTEXT = multiprocessing.get_context("fork") if sys.platform == "linux" else multiprocessing.get_context("spawn")


class Processes(Generic[Item, Result]):
    """`work` over many items, with an item that kills its process answered by `on_death`."""

    def __init__(
        self,
        work: Callable[[Item], Result],
        on_death: Callable[[Item], Result],
        jobs: int,
        size: Callable[[Item], int],
        exchange: Exchange[Result] | None = None,
    ) -> None:
        self._work = work
        self._on_death = on_death
        self._jobs = jobs
        self._size = size
        self._exchange = exchange

    def map(self, items: Sequence[Item]) -> Iterator[Result]:
        """Results as they come. When a process dies, what it may have held is gone through alone, at the end.

        Raises OSError, before the first result, where there are no processes to be had.
        """
        number_of_shares = max(min(self._jobs, len(items), _MOST), 1)
        shares = Shares(items, list(map(self._size, items)), number_of_shares)
        processes: dict[object, _Process[Item, Result]] = {}
        suspects: list[Item] = []
        try:
            for number in range(number_of_shares):
                self._start(number, shares, processes)
            while processes:
                for pipe in wait([process.pipe for process in processes.values()]):
                    process = processes[pipe]
                    results = process.results()
                    if results is None:
                        suspects += itertools.chain.from_iterable(process.given)
                        process.given.clear()
                        with contextlib.suppress(OSError):  # then the others do its share
                            self._start(process.number, shares, processes)
                    else:
                        self._tell(results, [one for one in processes.values() if one is not process])
                        process.give_from(shares)
                        yield from results
                    if not process.given:
                        processes.pop(pipe).stop()
        finally:
            for process in processes.values():
                process.stop()
        while left := shares.next(0):
            suspects += left
        yield from map(self._alone, suspects)

    def _tell(self, results: Sequence[Result], others: Sequence[_Process[Item, Result]]) -> None:
        if self._exchange is not None:
            news = [one for result in results for one in self._exchange.told(result)]
            for other in others:
                other.news += news

    def _start(self, number: int, shares: Shares[Item], processes: dict[object, _Process[Item, Result]]) -> None:
        """A process for a share, if there is still something to do."""
        process = _Process(self._work, number, self._exchange)
        process.give_from(shares)
        if process.given:
            processes[process.pipe] = process
        else:
            process.stop()

    def _alone(self, item: Item) -> Result:
        """An item that was out when a process died, in a process of its own: most of them are innocent."""
        try:
            process = _Process(self._work)
        except OSError:
            return self._on_death(item)
        try:
            process.give([item])
            results = process.results()
        finally:
            process.stop()
        return self._on_death(item) if results is None else results[0]


class _Process(Generic[Item, Result]):
    """One process, the chunks that it was given and has not answered, and what others found out since the last."""

    def __init__(
        self, work: Callable[[Item], Result], number: int = 0, exchange: Exchange[Result] | None = None
    ) -> None:
        self.number = number
        self.news: list[object] = []
        self.given: deque[list[Item]] = deque()
        self.pipe, theirs = _CONTEXT.Pipe()
        self._process = _CONTEXT.Process(
            target=_serve, args=(work, exchange, theirs, self.pipe), name="torchlint", daemon=True
        )
        self._process.start()
        theirs.close()  # else nothing would tell that it died

    def give_from(self, shares: Shares[Item]) -> None:
        """As many chunks as it should have at hand."""
        while len(self.given) < _AHEAD and (chunk := shares.next(self.number)):
            self.give(chunk)

    def give(self, chunk: list[Item]) -> None:
        self.given.append(chunk)
        with contextlib.suppress(OSError):  # it has died, and `results` says so
            self.pipe.send((chunk, self.news))
        self.news = []

    def results(self) -> list[Result] | None:
        """Of the chunk that was given first, when they are there; None where the process has died."""
        try:
            results: list[Result] = self.pipe.recv()
        except (EOFError, OSError):
            return None
        self.given.popleft()
        return results

    def stop(self) -> None:
        """End it: processes started later hold its pipe as well, so that to close that tells it nothing.

        What is idle, or not asked any more, has nothing to save; and SIGTERM it may handle as its parent does.
        """
        self.pipe.close()
        self._process.kill()
        self._process.join()


def _serve(
    work: Callable[[Item], Result], exchange: Exchange[Result] | None, pipe: Connection, asking: Connection
) -> None:
    """Chunks in, results out, until nobody asks any more. An interruption is for the process that asks."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asking.close()  # else this process would wait for itself when the other has died
    given: SimpleQueue[tuple[list[Item], Sequence[object]] | None] = SimpleQueue()
    threading.Thread(target=_listen, args=(pipe, given), daemon=True).start()
    while (told := given.get()) is not None:
        chunk, news = told
        if exchange is not None:
            exchange.hear(news)
        results = with_large_stack(functools.partial(work_through, work, chunk))
        with contextlib.suppress(OSError):  # nobody asks any more
            pipe.send(results)


def _listen(pipe: Connection, given: SimpleQueue[tuple[list[Item], Sequence[object]] | None]) -> None:
    """Take in at once what is sent: two processes that both wait until the other has read would wait for ever."""
    with contextlib.suppress(EOFError, OSError):
        while True:
            given.put(pipe.recv())
    given.put(None)
