"""The loader probe: workers that repeat each other, and workers that do not."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numpy")
pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(sys.platform != "linux", reason="workers are forked only on Linux"),
]

from tests.verify.statements.asking import ask_about  # noqa: E402
from torchlint.recording.messages import CallSite  # noqa: E402
from torchlint.recording.probes.loader import probe  # noqa: E402
from torchlint.recording.statements.worker_draws import Draw, Draws  # noqa: E402

_NOISY = """
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Noisy(Dataset):
    def __init__(self, samples: np.ndarray, amount=0.1) -> None:
        self.samples = samples
        self.amount = amount
        self.rng = {made}

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, index: int) -> np.ndarray:
        {first}
        return self.samples[index] + self.amount * self.rng.normal(size=3)  # here
"""
_KEPT = _NOISY.format(made="np.random.default_rng(0)", first="pass")
_LAZY = _NOISY.format(
    made="None", first="self.rng = np.random.default_rng(torch.initial_seed()) if self.rng is None else self.rng"
)
_BY_INDEX = _NOISY.format(made="np.random.RandomState(0)", first="self.rng.seed(index)")


def test_a_generator_kept_on_the_data_set_is_repeated_by_workers_and_epochs(tmp_path: Path) -> None:
    loader = "\n\nloader = DataLoader(Noisy(np.zeros((100, 3))), batch_size=8, num_workers=4)\n"
    said = probe(*ask_about(tmp_path, _KEPT + loader, "TL307"))
    assert said.verdict == "CONFIRMED", said.reason
    assert said.evidence["loader"] == "of the program"
    assert said.evidence["generator"] == "self.rng"
    counts = [said.evidence[name] for name in ("draws", "repeated_between_workers", "repeated_by_epochs")]
    assert counts == [16, 16, 16]
    assert said.evidence["repeated_without_workers"] == 0


def test_persistent_workers_repeat_each_other_but_no_epoch(tmp_path: Path) -> None:
    loader = "\n\nloader = DataLoader(Noisy(np.zeros((100, 3))), num_workers=2, persistent_workers=True)\n"
    said = probe(*ask_about(tmp_path, _KEPT + loader, "TL307"))
    assert said.verdict == "CONFIRMED", said.reason
    assert (said.evidence["repeated_between_workers"], said.evidence["repeated_by_epochs"]) == (16, 0)


def test_a_data_set_without_a_loader_is_built_from_samples_that_fit(tmp_path: Path) -> None:
    said = probe(*ask_about(tmp_path, _KEPT, "TL307"))
    assert said.verdict == "CONFIRMED", said.reason
    assert said.evidence["built_by"] == "invented arguments"


def test_a_generator_of_the_module_is_repeated(tmp_path: Path) -> None:
    text = """
    import random
    from torch.utils.data import Dataset

    FLIPS = random.Random()


    class Flipped(Dataset):
        def __init__(self, images):
            self.images = images

        def __len__(self):
            return len(self.images)

        def __getitem__(self, index):
            image = self.images[index]
            return image[::-1] if FLIPS.random() < 0.5 else image  # here
    """
    said = probe(*ask_about(tmp_path, text.replace("[::-1]", ""), "TL307"))
    assert said.verdict == ("CONFIRMED" if sys.version_info < (3, 14) else "NOT REPRODUCED"), said.reason


@pytest.mark.parametrize("text", [_LAZY, _BY_INDEX], ids=["made in the worker", "seeded by the index"])
def test_generators_that_do_not_repeat_refute(tmp_path: Path, text: str) -> None:
    said = probe(*ask_about(tmp_path, text, "TL307"))
    assert said.verdict != "CONFIRMED", said.reason
    if text is _LAZY:
        assert said.verdict == "REFUTED", said.reason


def test_a_worker_function_of_the_program_counts(tmp_path: Path) -> None:
    loader = """

def apart(worker_id):
    data = torch.utils.data.get_worker_info().dataset
    getattr(data, "_dataset", data).rng = np.random.default_rng(torch.initial_seed())


loader = DataLoader(Noisy(np.zeros((100, 3))), batch_size=8, num_workers=4, worker_init_fn=apart)
"""
    said = probe(*ask_about(tmp_path, _KEPT + loader, "TL307"))
    assert said.verdict == "REFUTED", said.reason


def test_a_data_set_that_nobody_can_build_is_skipped(tmp_path: Path) -> None:
    text = _KEPT.replace("amount=0.1", "connection")
    said = probe(*ask_about(tmp_path, text, "TL307"))
    assert said.verdict == "SKIPPED"
    assert said.evidence["skipped"] == "constructor"


def test_literal_arguments_of_the_project_build_it(tmp_path: Path) -> None:
    text = _KEPT.replace("amount=0.1", "connection")
    calls = {"Noisy": (CallSite(args=("np.zeros((20, 3))", "0.5"), place="train.py:3"),)}
    said = probe(*ask_about(tmp_path, text.replace("= amount", "= connection"), "TL307", calls=calls))
    assert said.verdict == "CONFIRMED", said.reason
    assert said.evidence["built_by"] == "literal arguments at train.py:3"


_GLOBAL_NUMPY = _KEPT.replace("self.rng.normal", "np.random.normal")


def test_numpy_in_workers_is_seeded_by_this_torch(tmp_path: Path) -> None:
    said = probe(*ask_about(tmp_path, _GLOBAL_NUMPY, "TL308"))
    assert said.verdict == "NOT REPRODUCED"
    assert "torch < 1.9" in said.reason


def test_numpy_in_workers_that_are_not_seeded_is_confirmed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As torch 1.8 did it: without this flag, the loop of a worker leaves NumPy alone."""
    from torch.utils.data._utils import worker

    monkeypatch.setattr(worker, "HAS_NUMPY", False)
    said = probe(*ask_about(tmp_path, _GLOBAL_NUMPY, "TL308"))
    assert said.verdict == "CONFIRMED", said.reason
    assert said.evidence["repeated_between_workers"] == 16


_WORKERS = """
import random
from functools import partial

import numpy as np
import torch
from torch.utils.data import DataLoader

SEED = 42


def seed_worker(worker_id, seed=SEED):
    {body}  # here


def train_loader(dataset):
    return DataLoader(dataset, batch_size=32, shuffle=True, num_workers=4, worker_init_fn=seed_worker)
"""


@pytest.mark.parametrize(
    ("body", "verdict", "library"),
    [
        ("np.random.seed(seed)", "CONFIRMED", "numpy"),
        ("random.seed(SEED)", "CONFIRMED", "random"),
        ("torch.manual_seed(SEED)", "CONFIRMED", "torch"),
        ("np.random.seed(torch.initial_seed() % 2**32)", "REFUTED", ""),
        ("np.random.seed(SEED + worker_id)", "REFUTED", ""),
    ],
)
def test_workers_that_are_seeded_alike_repeat_each_other(tmp_path: Path, body: str, verdict: str, library: str) -> None:
    said = probe(*ask_about(tmp_path, _WORKERS.format(body=body), "TL306"))
    assert said.verdict == verdict, said.reason
    if library:
        assert said.evidence["generator"] == library


def test_the_bound_arguments_of_a_loader_are_used(tmp_path: Path) -> None:
    text = """
    from functools import partial
    import numpy as np
    from torch.utils.data import DataLoader


    def seed_worker(worker_id, seed, rank):
        np.random.seed(seed + rank)  # here


    loader = DataLoader(range(8), num_workers=2, worker_init_fn=partial(seed_worker, seed=3, rank=1))
    """
    said = probe(*ask_about(tmp_path, text, "TL306"))
    assert said.verdict == "CONFIRMED", said.reason


_CALL = """
import numpy as np
from torch.utils.data import DataLoader


def seed_worker(worker_id{more}):
    np.random.seed(worker_id)


def train_loader(dataset):
    return DataLoader(dataset, num_workers=2, worker_init_fn={given})  # here
"""


@pytest.mark.parametrize(
    ("variant", "more", "given", "verdict"),
    [
        ("signature", ", seed", "seed_worker", "CONFIRMED"),
        ("signature", ", seed=0", "seed_worker", "REFUTED"),
        ("called", "", "seed_worker(0)", "CONFIRMED"),
        ("called", "", "seed_worker", "REFUTED"),
    ],
)
def test_what_the_loader_gets_decides(tmp_path: Path, variant: str, more: str, given: str, verdict: str) -> None:
    said = probe(*ask_about(tmp_path, _CALL.format(more=more, given=given), "TL306", variant=variant))
    assert said.verdict == verdict, said.reason


def test_a_worker_function_that_fails_otherwise_is_not_judged(tmp_path: Path) -> None:
    said = probe(*ask_about(tmp_path, _WORKERS.format(body='raise RuntimeError("no camera")'), "TL306"))
    assert said.verdict == "NOT REPRODUCED", said.reason
    assert "no camera" in said.reason


def test_draws_count_as_repeated_only_where_they_begin_and_end_alike() -> None:
    draws = Draws(
        [
            Draw(0, 0, "rng", "a", "b"),
            Draw(0, 1, "rng", "a", "c"),
            Draw(0, 0, "rng", "d", "e"),
            Draw(0, 1, "rng", "d", "e"),
            Draw(1, 0, "rng", "d", "e"),
        ],
        4,
    )
    assert draws.repeated_between_workers("rng") == 2
    assert draws.repeated_by_epochs("rng") == 1
