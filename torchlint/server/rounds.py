"""When to check: a moment after the last change, one check after another, and the newest text wins."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable
from typing import TypeVar

Result = TypeVar("Result")

_QUIET = 0.01
"""Seconds from a change to its check: what an editor sends along with it comes in the meantime."""


class Rounds:
    """Runs `check` until it has seen the last change.

    What is asked for while a check runs is answered by the next one, which is one for all. The check that runs is not
    stopped: what it learns of a project is what the next one stands on.
    """

    def __init__(self, check: Callable[[], Awaitable[None]]) -> None:
        self._check = check
        self.asked = 0
        self._answered = 0
        self._running: asyncio.Task[None] | None = None

    def ask(self) -> None:
        """Something has changed."""
        self.asked += 1
        if self._running is None or self._running.done():
            self._running = asyncio.ensure_future(self._run())

    @property
    def is_settled(self) -> bool:
        return self._answered == self.asked

    async def settled(self) -> None:
        """Wait until all that was asked for is answered."""
        while not self.is_settled and self._running is not None:
            await asyncio.shield(self._running)

    async def _run(self) -> None:
        while not self.is_settled:
            await asyncio.sleep(_QUIET)
            turn = self.asked
            await self._check()
            self._answered = turn


async def beside_the_loop(work: Callable[[], Result]) -> Result:
    """The result of work that another thread does. It is not waited for when the server ends."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Result] = loop.create_future()

    def tell(outcome: Callable[[], None]) -> None:
        if not future.done():
            outcome()

    def target() -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: the server has ended
            try:
                result = work()
            except Exception as error:  # noqa: BLE001 - handed to whoever waits
                failure = error
                loop.call_soon_threadsafe(tell, lambda: future.set_exception(failure))
            else:
                loop.call_soon_threadsafe(tell, lambda: future.set_result(result))

    threading.Thread(target=target, name="torchlint-check", daemon=True).start()
    return await future
