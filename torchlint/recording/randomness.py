"""The global generators: set before each run, so that runs begin alike."""

from __future__ import annotations

import random
import sys

import torch


def seed_everything(seed: int) -> None:
    """Seed Python, NumPy (if anyone imported it) and torch on every device."""
    random.seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed)
    torch.manual_seed(seed)
