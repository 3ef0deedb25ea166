"""What TL307 believes about loader workers, asked of the installed torch and NumPy."""

from __future__ import annotations

import importlib
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

_MISSING = [name for name in ("torch", "numpy") if importlib.util.find_spec(name) is None]
pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(bool(_MISSING), reason="torch or NumPy is not installed"),
    pytest.mark.skipif(sys.platform != "linux", reason="workers are forked only on Linux"),
]

PROGRAM = """
import json
import random
import sys

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

KEPT = random.Random()


class Draws(Dataset):
    def __init__(self, make, draw):
        self.generator = make()
        self.draw = draw

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return float(self.draw(self.generator))


def epochs(make, draw, **options):
    loader = DataLoader(
        Draws(make, draw), batch_size=None, num_workers=2, multiprocessing_context="fork", **options
    )
    return [[float(value) for value in loader] for _ in range(2)]


cases = {
    "default_rng": (np.random.default_rng, lambda g: g.random()),
    "RandomState": (np.random.RandomState, lambda g: g.rand()),
    "Random": (random.Random, lambda g: g.random()),
    "torch": (lambda: torch.Generator().manual_seed(3), lambda g: torch.rand((), generator=g)),
    "module": (lambda: None, lambda _: KEPT.random()),
    "global_python": (lambda: None, lambda _: random.random()),
    "global_numpy": (lambda: None, lambda _: np.random.rand()),
    "global_torch": (lambda: None, lambda _: torch.rand(())),
}
answers = {name: epochs(*case) for name, case in cases.items()}
answers["persistent"] = epochs(*cases["Random"], persistent_workers=True)
print(json.dumps(answers))
"""


@pytest.fixture(scope="module")
def epochs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[list[float]]]:
    """For each kind of generator, what two workers draw for four samples, in two epochs."""
    program = Path(tmp_path_factory.mktemp("workers")) / "draws.py"
    program.write_text(PROGRAM)
    ran = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=600, check=True)
    return json.loads(ran.stdout)  # type: ignore[no-any-return]


@pytest.mark.parametrize("kind", ["default_rng", "RandomState", "Random", "torch", "module"])
def test_workers_and_epochs_repeat_what_a_kept_generator_draws(epochs: dict[str, list[list[float]]], kind: str) -> None:
    first, second = epochs[kind]
    assert first[0] == first[1]
    assert first[2] == first[3] != first[0]
    assert first == second


@pytest.mark.parametrize("kind", ["global_python", "global_numpy", "global_torch"])
def test_torch_seeds_the_global_generators_of_each_worker(epochs: dict[str, list[list[float]]], kind: str) -> None:
    first, second = epochs[kind]
    assert len({*first, *second}) == len(first) + len(second)


def test_persistent_workers_repeat_each_other_but_not_the_epoch(epochs: dict[str, list[list[float]]]) -> None:
    first, second = epochs["persistent"]
    assert first[0] == first[1]
    assert not set(first) & set(second)
