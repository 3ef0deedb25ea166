"""Which nodes of a graph reach each other, or are reached: in linear time, however long the ways are."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def components(following: Mapping[Node, Sequence[Node]]) -> Iterator[list[Node]]:
    """Groups of nodes that reach each other, each group behind all that it leads to (Tarjan).

    >>> [sorted(group) for group in components({"a": ["b"], "b": ["c", "a"], "c": []})]
    [['c'], ['a', 'b']]
    """
    number: dict[Node, int] = {}
    lowest: dict[Node, int] = {}
    open_ones: list[Node] = []
    is_open: set[Node] = set()
    for start in following:
        way = [] if start in number else [(start, iter(following[start]))]
        while way:
            node, rest = way[-1]
            if node not in number:
                number[node] = lowest[node] = len(number)
                open_ones.append(node)
                is_open.add(node)
            after = next((one for one in rest if one not in number or one in is_open), None)
            if after is not None and after not in number:
                way.append((after, iter(following[after])))
            elif after is not None:
                lowest[node] = min(lowest[node], number[after])
            else:
                way.pop()
                if way:
                    lowest[way[-1][0]] = min(lowest[way[-1][0]], lowest[node])
                if lowest[node] == number[node]:  # it is in one group with all that were opened behind it
                    group: list[Node] = []
                    while not group or group[-1] != node:
                        group.append(open_ones.pop())
                        is_open.discard(group[-1])
                    yield group


def reached(starts: Iterable[Node], following: Callable[[Node], Iterable[Node]]) -> list[Node]:
    """The starts, and all that follows from them, nearest first.

    >>> reached("a", {"a": "bc", "b": "da", "c": "", "d": ""}.__getitem__)
    ['a', 'b', 'c', 'd']
    """
    waiting, found = deque(starts), list[Node]()
    for node in each_once(waiting):
        found.append(node)
        waiting += following(node)
    return found


def lineage(owner: Node, bases: Callable[[Node], Iterable[Node]]) -> list[Node]:
    """A class and all that it inherits from, in the order in which Python looks for a method.

    >>> lineage("a", {"a": "bc", "b": "d", "c": "de", "d": "", "e": ""}.__getitem__)
    ['a', 'b', 'c', 'd', 'e']
    """
    following = {one: list(bases(one))[::-1] for one in reached([owner], bases)}
    ordered = [one for group in components(following) for one in group]
    return ordered[::-1]


def each_once(waiting: deque[Node]) -> Iterator[Node]:
    """What waits, each node once; whoever gets it may put more behind."""
    seen: set[Node] = set()
    while waiting:
        node = waiting.popleft()
        if node not in seen:
            seen.add(node)
            yield node
