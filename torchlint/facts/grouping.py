"""Tables of what belongs together."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


def all_of(options: Iterable[frozenset[Key]]) -> frozenset[Key]:
    """What any of the options holds; nothing where one of them is empty.

    >>> all_of([frozenset({1}), frozenset()])
    frozenset()
    """
    known = list(options)
    return frozenset().union(*known) if all(known) else frozenset()


def grouped(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    """The values of each key, in the order of the pairs.

    >>> grouped([("a", 1), ("b", 2), ("a", 3)])
    {'a': [1, 3], 'b': [2]}
    """
    found: dict[Key, list[Value]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found
