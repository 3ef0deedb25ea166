"""Work over many items in several processes; one that dies costs its item, not the run."""

from __future__ import annotations

import contextlib
import functools
import itertools
import multiprocessing
import pickle
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from queue import SimpleQueue
from typing import Generic, TypeVar

from torchlint.engine.shares import Shares
from torchlint.engine.workers import Exchange, are_inherited, with_large_stack, work_through

Item = TypeVar("Item")
Result = TypeVar("Result")

_AHEAD = 2
"""Chunks that a process has: one at work and one to go on with."""
_MOST = 60
"""Windows waits for 63 things at once."""
_CONTEXT = multiprocessing.get_context("fork") if are_inherited() else multiprocessing.get_context("spawn")


class Processes(Generic[Item, Result]):
    """`work` over many items, with an item that kills its process answered by `on_death`."""

    def __init__(
        self,
        work: Callable[[Item], Result],
        on_death: Callable[[Item], Result],
        jobs: int,
        size: Callable[[Item], int],
        exchange: Exchange[Item, Result] | None = None,
    ) -> None:
        self._work = work
        self._on_death = on_death
        self._jobs = jobs
        self._size = size
        self._exchange = exchange

    def map(self, *stages: Sequence[Item]) -> Iterator[Result]:
        """Results as they come, of one stage after the other.

        When a process dies, what it may have held is gone through alone, at the end of the stage. Raises OSError,
        before the first result, where there are no processes to be had.
        """
        processes: _Running[Item, Result] = {}
        try:
            number_of_shares = max(min(self._jobs, len(stages[0]), _MOST), 1)
            for number in range(number_of_shares):
                self._start(number, processes)
            for stage, items in enumerate(stages):
                shares = Shares(items, list(map(self._size, items)), number_of_shares)
                if stage == 0:
                    self._begin(shares, processes)
                suspects: list[Item] = []
                yield from self._through(shares, processes, suspects)
                for result in map(self._alone, suspects):
                    self._tell(self._told([result]), None, processes)
                    yield result
        finally:
            for process in processes.values():
                process.kill()
            for process in processes.values():
                process.stop()

    def _through(
        self, shares: Shares[Item], processes: _Running[Item, Result], suspects: list[Item]
    ) -> Iterator[Result]:
        """The results of one stage; `suspects` gets the items that are left."""
        for process in processes.values():
            process.give_from(shares)
        while working := [process.pipe for process in processes.values() if process.given]:
            for pipe in wait(working):
                process = processes[pipe]
                results = process.results()
                if results is None:
                    suspects += itertools.chain.from_iterable(process.given)
                    processes.pop(pipe).stop()
                    with contextlib.suppress(OSError):  # then the others do its share
                        self._start(process.number, processes).give_from(shares)
                else:
                    self._tell(self._told(results), process, processes)
                    process.give_from(shares)
                    yield from results
        while left := shares.next(0):
            suspects += left

    def _start(self, number: int, processes: _Running[Item, Result]) -> _Process[Item, Result]:
        process = _Process(self._work, number, self._exchange)
        processes[process.pipe] = process
        return process

    def _begin(self, shares: Shares[Item], processes: _Running[Item, Result]) -> None:
        """Let each process look at its share, wait for all, and tell the others what each has found out."""
        if self._exchange is not None:
            for process in processes.values():
                process.begin(shares.of(process.number))
            for process in processes.values():
                news = process.begun()
                self._exchange.hear(news)
                self._tell(news, process, processes)

    def _told(self, results: Sequence[Result]) -> list[object]:
        return [] if self._exchange is None else [one for result in results for one in self._exchange.told(result)]

    def _tell(
        self, news: Sequence[object], source: _Process[Item, Result] | None, processes: _Running[Item, Result]
    ) -> None:
        others = [one for one in processes.values() if one is not source]
        packed = pickle.dumps(news, pickle.HIGHEST_PROTOCOL) if news and others else b""  # once for all of them
        for other in others:
            other.news += [packed] if packed else []

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
        self, work: Callable[[Item], Result], number: int = 0, exchange: Exchange[Item, Result] | None = None
    ) -> None:
        self.number = number
        self.news: list[bytes] = []
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

    def begin(self, share: list[Item]) -> None:
        """Let it look at its share, before any of that is worked on."""
        with contextlib.suppress(OSError):  # as in `give`
            self.pipe.send((share, None))

    def begun(self) -> list[object]:
        """What it has found out then; a process that has died has found out nothing."""
        try:
            news: list[object] = self.pipe.recv()
        except (EOFError, OSError):
            return []
        return news

    def results(self) -> list[Result] | None:
        """Of the chunk that was given first, when they are there; None where the process has died."""
        try:
            results: list[Result] = self.pipe.recv()
        except (EOFError, OSError):
            return None
        self.given.popleft()
        return results

    def stop(self) -> None:
        """End it: processes started later hold its pipe as well, so that to close that tells it nothing."""
        self.kill()
        self._process.join()

    def kill(self) -> None:
        """What is idle, or not asked any more, has nothing to save; and SIGTERM it may handle as its parent does.

        It is gone a moment later: to give back what it holds takes a while.
        """
        self.pipe.close()
        self._process.kill()


_Running = dict[object, _Process[Item, Result]]
"""Processes by their pipes."""
_Told = tuple[list[Item], Sequence[bytes] | None]
"""A chunk to work on and the news before it, packed; or, without news, a share to look at."""


def _serve(
    work: Callable[[Item], Result], exchange: Exchange[Item, Result] | None, pipe: Connection, asking: Connection
) -> None:
    """Chunks in, results out, until nobody asks any more. An interruption is for the process that asks."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asking.close()  # else this process would wait for itself when the other has died
    given: SimpleQueue[_Told[Item] | None] = SimpleQueue()
    threading.Thread(target=_listen, args=(pipe, given), daemon=True).start()
    while (told := given.get()) is not None:
        answer = with_large_stack(functools.partial(_answer, work, exchange, *told))
        with contextlib.suppress(OSError):  # nobody asks any more
            pipe.send(answer)


def _answer(
    work: Callable[[Item], Result],
    exchange: Exchange[Item, Result] | None,
    items: list[Item],
    news: Sequence[bytes] | None,
) -> Sequence[object]:
    if exchange is None:
        return work_through(work, items)
    if news is None:
        return work_through(exchange.begin, [items])[0]
    for packed in news:
        exchange.hear(pickle.loads(packed))  # noqa: S301 - from the process that started this one
    return work_through(work, items)


def _listen(pipe: Connection, given: SimpleQueue[_Told[Item] | None]) -> None:
    """Take in at once what is sent: two processes that both wait until the other has read would wait for ever."""
    with contextlib.suppress(EOFError, OSError):
        while True:
            given.put(pipe.recv())
    given.put(None)
