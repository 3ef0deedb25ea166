"""Items for several processes: neighbours go to one, and who has done its own helps with the fullest share."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Generic, TypeVar

Item = TypeVar("Item")

_ROUNDS = 4
"""Of a share, so much of what is left goes out at once: little near the end, where one process waits for another."""
_LEAST = 40
"""Less than one of so many parts of a share is not worth a message."""
_LARGEST = 24
"""Items that go out at once: after a death, each of them is gone through alone."""


class Shares(Generic[Item]):
    """Parts of about one size, of items that stand together: files ask for files beside them.

    >>> shares = Shares(["a", "b", "c", "d"], [1, 1, 1, 1], 2)
    >>> shares.next(0), shares.next(0), shares.next(0), shares.next(1), shares.next(1)
    (['a'], ['b'], ['d'], ['c'], [])
    """

    def __init__(self, items: Sequence[Item], sizes: Sequence[int], number: int) -> None:
        self._shares: list[deque[tuple[Item, int]]] = [deque() for _ in range(number)]
        self._left = [0] * number
        whole, before = max(sum(sizes), 1), 0
        self._least = whole // number // _LEAST
        for item, size in zip(items, sizes, strict=True):
            share = min((before + size // 2) * number // whole, number - 1)
            self._shares[share].append((item, size))
            self._left[share] += size
            before += size

    def of(self, number: int) -> list[Item]:
        """What is left of one."""
        return [item for item, _ in self._shares[number]]

    def next(self, number: int) -> list[Item]:
        """What a process does next, from the front of its share or the end of another; nothing once all is out."""
        is_own = bool(self._shares[number])
        share = number if is_own else max(range(len(self._shares)), key=lambda one: len(self._shares[one]))
        items, most = self._shares[share], max(self._left[share] // _ROUNDS, self._least)
        chunk: list[Item] = []
        held = 0
        while items and len(chunk) < _LARGEST and (not chunk or held + items[0 if is_own else -1][1] <= most):
            item, size = items.popleft() if is_own else items.pop()
            chunk.append(item)
            held += size
        self._left[share] -= held
        return chunk
