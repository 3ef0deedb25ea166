"""The global generators of torch, NumPy and Python: whether a line seeded them, drew from them or put them back."""

from __future__ import annotations

import random
import sys
import zlib
from typing import Any

import torch

_PYTHON_WORDS = 624
_SEEDED_FIRST_WORD = 0x80000000
"""Seeding a Mersenne twister from an array, as Python always does, leaves this in its first word."""


class GeneratorWatch:
    """Says of each library what happened to its generator since it was asked last."""

    def __init__(self) -> None:
        self._states: dict[str, Any] = _states()
        self._seen = {(name, _digest(state)) for name, state in self._states.items()}
        self._torch_seed = torch.initial_seed()

    def changes(self) -> list[tuple[str, str, str]]:
        """(what, library, value) for each: what is `seed`, `draw` or `restore`."""
        found: list[tuple[str, str, str]] = []
        states = _states()
        for name, state in states.items():
            before = self._states.get(name)
            if before is not None and _are_equal(before, state):
                continue
            digest = _digest(state)
            if before is not None:
                found.extend((what, name, value) for what, value in self._what_happened(name, state, digest))
            self._seen.add((name, digest))
        self._states = states
        return found

    def _what_happened(self, name: str, state: Any, digest: str) -> list[tuple[str, str]]:  # noqa: ANN401
        if name == "torch":
            return self._what_torch_did(state, digest)
        if _is_freshly_seeded(name, state):
            return [("seed", digest)]
        return [("restore" if (name, digest) in self._seen else "draw", digest)]

    def _what_torch_did(self, state: torch.Tensor, digest: str) -> list[tuple[str, str]]:
        seed = torch.initial_seed()
        is_fresh = torch.equal(torch.Generator().manual_seed(seed).get_state(), state)
        is_new, self._torch_seed = seed != self._torch_seed, seed
        if ("torch", digest) in self._seen and not is_fresh:
            return [("restore", digest)]
        seeded = [("seed", str(seed))] if is_new or is_fresh else []
        return seeded if is_fresh else [*seeded, ("draw", digest)]


def _states() -> dict[str, Any]:
    states: dict[str, Any] = {"torch": torch.get_rng_state(), "random": random.getstate()}
    numpy = sys.modules.get("numpy.random")
    if numpy is not None and hasattr(numpy, "get_state"):
        states["numpy"] = numpy.get_state()
    return states


def _are_equal(first: Any, second: Any) -> bool:  # noqa: ANN401 - three kinds of state
    if isinstance(first, torch.Tensor):
        return torch.equal(first, second)
    if isinstance(first[1], tuple):
        return bool(first == second)
    return bool(first[2:] == second[2:] and (first[1] == second[1]).all())


def _digest(state: Any) -> str:  # noqa: ANN401 - likewise
    if isinstance(state, torch.Tensor):
        words: list[int] = state.view(torch.int64).tolist()
        return f"{zlib.crc32(repr(words).encode()):08x}"
    if isinstance(state[1], tuple):
        return f"{zlib.crc32(repr(state).encode()):08x}"
    return f"{zlib.crc32(state[1].tobytes() + repr(state[2:]).encode()):08x}"


def _is_freshly_seeded(name: str, state: Any) -> bool:  # noqa: ANN401 - likewise
    if name == "random":
        words = state[1]
        return bool(words[-1] == _PYTHON_WORDS and words[0] == _SEEDED_FIRST_WORD)
    words, position = state[1], state[2]
    if position != _PYTHON_WORDS:
        return False
    if int(words[0]) == _SEEDED_FIRST_WORD:
        return True
    seeded = sys.modules["numpy.random"].RandomState(int(words[0])).get_state()
    return bool((seeded[1] == words).all())
