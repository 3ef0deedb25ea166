"""The start block of a program, as code that its author pastes above everything else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint import __version__

if TYPE_CHECKING:
    from torchlint.audit.needs import Needs

_SEEDING = {
    "random": "random.seed(SEED)",
    "numpy": "np.random.seed(SEED)",
    "torch": "torch.manual_seed(SEED)  # on the CPU and on all GPUs",
}
_IMPORTS = {"random": "import random", "numpy": "import numpy as np", "torch": "import torch"}
_STATES = {
    "random": ("random.getstate()", "random.setstate({})"),
    "numpy": ("np.random.get_state()", "np.random.set_state({})"),
    "torch": ("torch.get_rng_state()", "torch.set_rng_state({})"),
    "cuda": ("torch.cuda.get_rng_state_all()", "torch.cuda.set_rng_state_all({})"),
}
"""By generator how its state is read, and how it is set."""
_OF_CHECKPOINTS = '''\
def random_states():
    """The states of all generators: save them in the checkpoint, at the end of an epoch."""
    return {{
{states}
    }}


def restore_random_states(states):
    """Call it once the checkpoint is loaded{how}."""
'''
_HOW = "with `map_location='cpu'`"
_WITH_ARRAYS = f"{_HOW}, and `weights_only=False` for NumPy's state"
_OF_WORKERS = '''\
def seed_worker(worker_id):
    """For each DataLoader: `DataLoader(..., worker_init_fn=seed_worker, generator=loader_generator)`."""
    seed = torch.initial_seed() % 2**32
    np.random.seed(seed)
    random.seed(seed)


loader_generator = torch.Generator()
loader_generator.manual_seed(SEED)
'''


def lines(needs: Needs) -> Iterator[str]:
    """The lines of the block, each import once, in the order in which they must run."""
    yield f"# Start of {needs.program} for torch {needs.torch}, by torchlint {__version__}."
    yield "# Put it above all other code, and below `from __future__` imports."
    if not needs:
        yield "# Nothing is missing, as far as the code shows: draws are seeded, and the mode is on if it has to be."
        return
    if needs.workspace:
        yield from ("import os", "")
        yield 'os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # torch 2.9 and older, before CUDA starts'
        yield ""
    yield from _imports(needs)
    yield ""
    if needs.seeds or needs.workers:
        yield "SEED = 0"
    yield from (_SEEDING[generator] for generator in needs.seeds)
    if needs.mode:
        yield "torch.use_deterministic_algorithms(True)  # raises at an operator that has no deterministic kernel"
    if needs.cudnn:
        yield "torch.backends.cudnn.deterministic = True  # this torch has no determinism mode for other kernels"
    if needs.workers:
        yield from ("", "", *_OF_WORKERS.splitlines())
    if needs.restored:
        yield from ("", "", *_checkpoints(needs))


def _imports(needs: Needs) -> Iterator[str]:
    used = {*needs.seeds, *needs.restored, *(("random", "numpy") if needs.workers else ()), "torch"}
    if "random" in used:
        yield from (_IMPORTS["random"], "")
    others = [_IMPORTS[name] for name in ("numpy", "torch") if name in used]
    yield from others


def _checkpoints(needs: Needs) -> Iterator[str]:
    states = [f'        "{name}": {_STATES[name][0]},' for name in needs.restored]
    how = _WITH_ARRAYS if "numpy" in needs.restored else _HOW
    yield from _OF_CHECKPOINTS.format(states="\n".join(states), how=f" {how}").splitlines()
    for name in needs.restored:
        state = f'states["{name}"]'
        yield f"    {_STATES[name][1].format(state)}"
