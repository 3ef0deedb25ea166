"""Observation and action spaces, as reinforcement learning describes an environment by them."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Collection
from typing import Any

try:
    import numpy as np
except ImportError:
    _HAS_NUMPY = False
else:
    _HAS_NUMPY = True

OBSERVED, ACTED, CHOICES = 8, 3, 4
"""Numbers in an observation, in an action, and discrete actions to choose from."""
_SPACE = re.compile(r"(.*_)?((?P<observation>obs(ervations?)?|states?)|act(ions?)?)_?space")
_ENVIRONMENT = re.compile(r"(.*_)?(v?env|environment)s?")
_OF_A_BOX = frozenset({"shape", "high", "low"})
_OF_AN_ENVIRONMENT = re.compile(r"(single_)?(observation|action)_space")


class Box:
    """Real numbers within bounds."""

    def __init__(self, size: int) -> None:
        self.shape = (size,)
        self.low, self.high = -np.ones(size, np.float32), np.ones(size, np.float32)
        self.dtype = np.dtype(np.float32)

    def sample(self) -> Any:  # noqa: ANN401 - an array
        return np.zeros(self.shape, np.float32)

    def __repr__(self) -> str:
        return f"Box(-1.0, 1.0, {self.shape})"


class Discrete:
    """One of a few choices."""

    def __init__(self, n: int) -> None:
        self.n, self.shape, self.dtype = n, (), np.dtype(np.int64)

    def sample(self) -> int:
        return 0

    def __repr__(self) -> str:
        return f"Discrete({self.n})"


class Environment:
    """One, or several at once: what is asked of it before it runs."""

    def __init__(self) -> None:
        self.observation_space = self.single_observation_space = _box(OBSERVED)
        self.action_space = self.single_action_space = _discrete(CHOICES)
        self.num_envs = 1

    def __repr__(self) -> str:
        return f"Environment({self.observation_space}, {self.action_space})"


def space_for(name: str, attributes: Collection[str]) -> Any | None:  # noqa: ANN401 - of whichever library is there
    """A space or an environment for a parameter that is called and read like one; none without NumPy."""
    if not _HAS_NUMPY:
        return None
    if _ENVIRONMENT.fullmatch(name) and any(map(_OF_AN_ENVIRONMENT.fullmatch, attributes)):
        return Environment()
    found = _SPACE.fullmatch(name)
    if found is None:
        return None
    if found["observation"]:
        return _box(OBSERVED)
    return _discrete(CHOICES) if "n" in attributes or not _OF_A_BOX & set(attributes) else _box(ACTED)


def _library() -> Any | None:  # noqa: ANN401 - a module
    name = next((name for name in ("gymnasium", "gym") if importlib.util.find_spec(name) is not None), None)
    return importlib.import_module(f"{name}.spaces") if name else None


def _box(size: int) -> Any:  # noqa: ANN401 - the library's, or one like it
    library = _library()
    return library.Box(-1.0, 1.0, (size,), np.float32) if library else Box(size)


def _discrete(n: int) -> Any:  # noqa: ANN401 - the library's, or one like it
    library = _library()
    return library.Discrete(n) if library else Discrete(n)
