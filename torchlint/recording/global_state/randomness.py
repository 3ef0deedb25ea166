"""The global generators: set before each run, so that runs begin alike."""

from __future__ import annotations

import importlib
import random
import sys

import torch

# NumPy imports its generators when they are first asked for: better once than in each process.
if sys.modules.get("numpy") is not None:
    importlib.import_module("numpy.random")


def seed_everything(seed: int) -> None:
    """Seed Python, NumPy (if anyone imported it) and torch on every device."""
    random.seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed)
    torch.manual_seed(seed)


def generator_states() -> tuple[object, ...]:
    """The state of the global generators, to tell whether a run drew from them."""
    numpy = sys.modules.get("numpy")
    devices = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []
    states = [torch.get_rng_state(), *devices]
    return (
        random.getstate(),
        repr(numpy.random.get_state(legacy=False)) if numpy is not None else "",
        *(bytes(state.tolist()) for state in states),  # not by NumPy, which may be missing beside torch
    )
