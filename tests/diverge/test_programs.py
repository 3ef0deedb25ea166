"""Some of the planted programs, compared by the real command. `python -m tests.diverge` compares all of them."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from tests.diverge.planted import Planted, compared, planted

pytestmark = pytest.mark.torch

_QUICK = frozenset({"cnn_unseeded_start", "two_moons", "stochastic_depth", "padded_pictures", "clean_seeded_workers"})
"""A draw, a notebook, another way through the program, unwritten memory, and a clean one with workers."""


@pytest.mark.parametrize("program", [each for each in planted() if each.name in _QUICK], ids=lambda each: each.name)
def test_what_was_planted_is_found_and_nothing_is_left(program: Planted) -> None:
    if program.missing:
        pytest.skip(f"not installed: {', '.join(program.missing)}")
    found, left = compared(program)
    assert program.faults(found) == []
    assert left == []
