"""What TL312 says about environments, asked of the gymnasium that is installed."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

import pytest

from torchlint.facts.randomness.environments import MAKERS

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(importlib.util.find_spec("gymnasium") is None, reason="gymnasium is not installed"),
]


def _actions(*, is_reset_with_seed: bool, is_space_seeded: bool) -> list[Any]:
    environment = importlib.import_module("gymnasium").make("CartPole-v1")
    environment.reset(seed=0 if is_reset_with_seed else None)
    if is_space_seeded:
        environment.action_space.seed(0)
    return [int(environment.action_space.sample()) for _ in range(64)]


@pytest.mark.parametrize("is_reset_with_seed", [False, True])
@pytest.mark.parametrize("is_space_seeded", [False, True])
def test_only_its_own_seed_makes_an_action_space_repeat(*, is_reset_with_seed: bool, is_space_seeded: bool) -> None:
    first, second = (_actions(is_reset_with_seed=is_reset_with_seed, is_space_seeded=is_space_seeded) for _ in range(2))
    assert (first == second) is is_space_seeded


def test_the_seed_of_numpy_leaves_an_environment_alone() -> None:
    gymnasium, numpy = (importlib.import_module(name) for name in ("gymnasium", "numpy"))
    states = []
    for _ in range(2):
        numpy.random.seed(0)
        states.append(gymnasium.make("CartPole-v1").reset()[0].tolist())
    assert states[0] != states[1]


@pytest.mark.parametrize(("name", "is_steady"), [("CliffWalking-v1", True), ("FrozenLake-v1", False)])
def test_which_environments_draw(name: str, *, is_steady: bool) -> None:
    walks = []
    for _ in range(2):
        environment = importlib.import_module("gymnasium").make(name)
        walk = [environment.reset()[0]]
        for action in (1, 2, 1, 2, 2, 1) * 8:
            state, _, is_over, _, _ = environment.step(action)
            walk.append(environment.reset()[0] if is_over else state)
        walks.append(walk)
    assert (walks[0] == walks[1]) is is_steady


def test_the_makers_of_gymnasium_exist() -> None:
    gymnasium = importlib.import_module("gymnasium")
    assert all(hasattr(gymnasium, name.rpartition(".")[2]) for name in MAKERS if name.startswith("gymnasium.make"))
