"""A bounded part of `python -m tests.fuzz`, and every text that was ever wrong."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from tests.fuzz.__main__ import FIXTURES, KEPT, corpus, text_of
from tests.fuzz.checking import check

COUNT, PARTS = 240, 8
"""Texts, and tests that share them."""


@functools.cache
def _corpus() -> list[list[str]]:
    return corpus([FIXTURES])


@pytest.mark.parametrize("part", range(PARTS))
def test_changed_fixtures_break_nothing(part: int) -> None:
    for seed in range(part, COUNT, PARTS):
        check(text_of(_corpus(), seed))


@pytest.mark.parametrize("path", sorted(KEPT.glob("*.txt")), ids=lambda path: path.stem)
def test_what_was_wrong_is_right(path: Path) -> None:
    check(path.read_bytes().decode(errors="surrogatepass"))
