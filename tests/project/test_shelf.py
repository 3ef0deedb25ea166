"""Trees stay at hand up to a size, those that were asked last."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from torchlint.project.shelf import Shelf


def facts_of(path: str, text: str) -> Any:  # noqa: ANN401 - stands for the facts of a file
    """As much of a file's facts as a shelf looks at."""
    return SimpleNamespace(path=path, source=SimpleNamespace(text=text, lines=text.split("\n")))


def test_what_was_asked_last_stays() -> None:
    shelf = Shelf(8)
    one, two, three = (facts_of(path, "x" * 4) for path in ("a.py", "b.py", "c.py"))
    assert [*shelf.put(one), *shelf.put(two)] == []
    assert shelf.get("a.py") is one
    assert list(shelf.put(three)) == [two]
    assert shelf.get("b.py") is None
    assert shelf.take("c.py") is three
    assert shelf.take("c.py") is None
    assert list(shelf.put(two)) == []


def test_lines_count_for_nothing_where_they_are_empty() -> None:
    shelf = Shelf(8)
    assert [*shelf.put(facts_of("a.py", "x\n" * 4)), *shelf.put(facts_of("b.py", "\n" * 100))] == []


def test_a_file_that_is_too_large_stays_until_the_next() -> None:
    shelf = Shelf(8)
    large, small = facts_of("a.py", "x" * 100), facts_of("b.py", "x")
    assert list(shelf.put(large)) == []
    assert list(shelf.put(small)) == [large]


def test_a_file_is_there_once() -> None:
    shelf = Shelf(8)
    first, again = facts_of("a.py", "x" * 6), facts_of("a.py", "x" * 6)
    assert [*shelf.put(first), *shelf.put(again)] == []
    assert shelf.get("a.py") is again


def test_what_is_spare_goes_first_as_long_as_it_is() -> None:
    shelf = Shelf(8)
    one, two, three = (facts_of(path, "x" * 4) for path in ("a.py", "b.py", "c.py"))
    assert [*shelf.put(one), *shelf.put(two, is_spare=True)] == []
    assert list(shelf.put(three)) == [two]
    assert list(shelf.put(two, is_spare=True)) == [two]
    shelf.take("a.py")
    assert list(shelf.put(two)) == []
    assert list(shelf.put(one)) == [three]
