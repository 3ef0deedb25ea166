"""Questions that ask themselves: each is worked out once, and none depends on which was asked first."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import pytest

from tests.facts.reading import facts_of_program
from torchlint.facts.file import FileFacts
from torchlint.facts.memoizing import followed

CIRCLES = {
    "two": {"a": "b", "b": "a"},
    "a way in": {"a": "b", "b": "c", "c": "b"},
    "two of them": {"a": "bc", "b": "a", "c": "d", "d": "ce", "e": ""},
    "through itself": {"a": "ab", "b": ""},
}


def reach(graph: dict[str, str], asked: Iterable[str]) -> tuple[dict[str, frozenset[str]], int]:
    """What is reached from nodes of a graph, asked one after another of one file; and how many questions that took."""
    facts, questions = facts_of_program(""), itertools.count()

    @followed(otherwise=frozenset[str]())
    def reached(facts: FileFacts, node: str) -> frozenset[str]:
        next(questions)
        return frozenset(graph[node]).union(*(reached(facts, one) for one in graph[node]))

    return {node: reached(facts, node) for node in asked}, next(questions)


@pytest.mark.parametrize("graph", CIRCLES.values(), ids=CIRCLES)
def test_a_circle_is_answered_in_full_whoever_asks_first(graph: dict[str, str]) -> None:
    each = {node: reach(graph, node)[0][node] for node in graph}
    for order in itertools.permutations(graph):
        assert reach(graph, order)[0] == each


def test_many_ways_are_walked_once() -> None:
    """Twenty nodes, each of which leads to the next in two ways: a million ways through all of them."""
    graph = {chr(97 + n): chr(98 + n) * 2 for n in range(20)} | {"u": ""}
    found, questions = reach(graph, "a")
    assert (len(found["a"]), questions) == (20, 21)


def test_what_all_lead_to_each_other_is_worked_out_once_for_each_that_is_asked() -> None:
    names = "abcdefghijkl"
    found, questions = reach(dict.fromkeys(names, names), names)
    assert set(found.values()) == {frozenset(names)}
    assert questions == len(names) ** 2 - sum(range(len(names)))  # those that are settled are not asked again


def test_what_is_too_far_is_not_followed_and_is_answered_when_it_is_asked_itself() -> None:
    graph = {chr(100 + n): chr(101 + n) for n in range(100)} | {chr(200): ""}
    far = chr(199)
    found, questions = reach(graph, "d" + far)
    assert (len(found["d"]), set(found[far])) == (30, {chr(200)})
    assert questions == 32
