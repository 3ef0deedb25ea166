"""The factors that can be held fixed: their names, what holding them means, and what a user would write instead."""

from __future__ import annotations

from typing import NamedTuple


class Factor(NamedTuple):
    held: str
    """How it is held, in the words of a report."""
    cure: str
    """What a user would write, so that it varies no more."""


ABOUT = {
    "torch-random": Factor(
        "torch.manual_seed(0) at the start, and fixed numbers where the program asks torch for a seed",
        "torch.manual_seed(0) before the model is made",
    ),
    "numpy-random": Factor(
        "np.random.seed(0) at the start, and fixed numbers where NumPy takes entropy",
        "np.random.default_rng(0), or np.random.seed(0) at the start",
    ),
    "python-random": Factor(
        "random.seed(0) at the start, and fixed numbers where the program seeds without a number",
        "random.seed(0) at the start",
    ),
    "os-entropy": Factor(
        "os.urandom, secrets and uuid give bytes of a fixed stream",
        "a number that is written down in place of os.urandom, secrets or uuid",
    ),
    "hash-seed": Factor("PYTHONHASHSEED=0", "PYTHONHASHSEED=0 in the environment, or sorted(...) of the set"),
    "listing": Factor("folders are listed in sorted order", "sorted(os.listdir(...))"),
    "clock": Factor(
        "the clock starts at a fixed time, and each reading moves it by a millisecond",
        "no seed or value taken from the clock",
    ),
    "process-id": Factor("os.getpid() gives a fixed number", "no seed taken from os.getpid()"),
    "threads": Factor("torch computes with one thread", "torch.set_num_threads(1)"),
    "workers": Factor(
        "DataLoader loads without workers, and executors and pools give results in the order of submission",
        "DataLoader(..., num_workers=0), or a worker_init_fn and a generator that seed each worker",
    ),
    "memory": Factor(
        "memory that torch hands out unwritten is filled with zeros", "torch.zeros(...) in place of torch.empty(...)"
    ),
    "determinism-mode": Factor(
        "torch.use_deterministic_algorithms(True, warn_only=True) and torch.backends.cudnn.benchmark = False",
        "torch.use_deterministic_algorithms(True) and torch.backends.cudnn.benchmark = False",
    ),
    "compile": Factor("TORCHDYNAMO_DISABLE=1: nothing is compiled", "the region without torch.compile"),
    "leftover-files": Factor(
        "each run sees the files as they were before the first",
        "files of an earlier run removed at the start, or written to a new folder",
    ),
}
FACTORS = tuple(ABOUT)
VARIABLE = ("hash-seed", "listing", "threads", "workers", "clock", "memory")
"""Those that `--vary` gives another value in the second run."""
