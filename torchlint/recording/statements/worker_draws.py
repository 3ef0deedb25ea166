"""What the workers of a loader draw: from which state of which generator, in two epochs."""

from __future__ import annotations

import random
import sys
import warnings
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import msgspec
import torch
from torch.utils.data import DataLoader, Dataset, get_worker_info

from torchlint.recording.originals import Judging, UsersCode
from torchlint.recording.statements.flattened import generator_state

_ITEMS = 16
_BATCH = 4
_EPOCHS = 2
_PATIENCE = 20
"""Seconds after which a worker that gives nothing is given up."""
_GLOBAL = ("torch", "numpy", "random")


class Draw(msgspec.Struct, frozen=True):
    """One sample whose making moved a generator."""

    epoch: int
    worker: int
    generator: str
    before: str
    after: str


class Draws(msgspec.Struct, frozen=True):
    draws: list[Draw] = []
    items: int = 0

    def names(self) -> list[str]:
        return list(dict.fromkeys(draw.generator for draw in self.draws))

    def count(self, name: str, epoch: int = 0) -> int:
        return sum(1 for draw in self.draws if draw.generator == name and draw.epoch == epoch)

    def repeated_between_workers(self, name: str) -> int:
        """Draws of the first epoch that another worker made too: they began and ended in the same states."""
        steps = self._steps(name, 0)
        return sum(1 for worker, step in steps if any(other != worker and step == taken for other, taken in steps))

    def repeated_by_epochs(self, name: str) -> int:
        """Draws of the second epoch that the same worker made in the first."""
        first = set(self._steps(name, 0))
        return sum(1 for step in self._steps(name, 1) if step in first)

    def _steps(self, name: str, epoch: int) -> list[tuple[int, tuple[str, str]]]:
        return [
            (draw.worker, (draw.before, draw.after))
            for draw in self.draws
            if draw.generator == name and draw.epoch == epoch
        ]


class GlobalDraws(Dataset[Any]):
    """Each sample draws from the three global generators."""

    def __len__(self) -> int:
        return _ITEMS

    def __getitem__(self, _: int) -> float:
        numpy = sys.modules.get("numpy")
        drawn = random.random() + float(torch.rand(()))  # noqa: S311 - this is what is looked at
        return drawn + (float(numpy.random.rand()) if numpy is not None else 0.0)


class _Recorded(Dataset[Any]):
    """Another data set's samples, each with the states of the generators before and after."""

    def __init__(self, dataset: Any, module: ModuleType | None) -> None:  # noqa: ANN401 - the user's data set
        self._dataset = dataset
        self._module = module

    def __len__(self) -> int:
        return _ITEMS

    def __getitem__(self, index: int) -> tuple[int, dict[str, str], dict[str, str]]:
        before = _states(self._dataset, self._module)
        self._dataset[index % max(1, len(self._dataset))]
        worker = get_worker_info()
        return (worker.id if worker else -1), before, _states(self._dataset, self._module)


def record_draws(
    dataset: Any,  # noqa: ANN401 - the user's data set
    module: ModuleType | None,
    workers: int,
    worker_init: Callable[[int], None] | None = None,
    *,
    is_persistent: bool = False,
) -> Draws:
    """Two epochs of a loader. What the user's code raises in a worker comes out here."""
    loader: DataLoader[Any] = DataLoader(
        _Recorded(dataset, module),
        batch_size=_BATCH,
        num_workers=workers,
        collate_fn=list,
        worker_init_fn=worker_init,
        multiprocessing_context="fork" if workers else None,
        timeout=_PATIENCE if workers else 0,
        persistent_workers=is_persistent and workers > 0,
    )
    found: list[Draw] = []
    with warnings.catch_warnings(), UsersCode():
        # A machine with one core, and Python 3.12 where forks are made beside threads.
        warnings.simplefilter("ignore")
        for epoch in range(_EPOCHS):
            found.extend(draw for batch in loader for item in batch for draw in _drawn(epoch, item))
    return Draws(found, _ITEMS)


def _drawn(epoch: int, item: tuple[int, dict[str, str], dict[str, str]]) -> Iterator[Draw]:
    worker, before, after = item
    for name, state in after.items():
        if name in before and before[name] != state:
            yield Draw(epoch, worker, name, before[name], state)


def _states(dataset: Any, module: ModuleType | None) -> dict[str, str]:  # noqa: ANN401 - the user's data set
    with Judging():
        found = {"torch": str(hash(bytes(torch.get_rng_state().tolist()))), "random": str(hash(random.getstate()))}
        numpy = sys.modules.get("numpy")
        if numpy is not None:
            name, words, *rest = numpy.random.get_state()
            found["numpy"] = str(hash((name, words.tobytes(), *rest)))
        states = ((name, generator_state(value)) for name, value in _kept(dataset, module))
        return found | {name: state for name, state in states if state is not None}


def _kept(dataset: Any, module: ModuleType | None) -> Iterator[tuple[str, object]]:  # noqa: ANN401 - likewise
    """The names of the file, the attributes of the data set, and those of its parts, such as a transform."""
    yield from list(vars(module).items()) if module is not None else ()
    for name, value in list(getattr(dataset, "__dict__", {}).items()):
        yield f"self.{name}", value
        for inner, part in list(getattr(value, "__dict__", {}).items()):
            yield f"self.{name}.{inner}", part


def is_global(name: str) -> bool:
    return name in _GLOBAL


def is_of_module(name: str) -> bool:
    return not is_global(name) and not name.startswith("self.")
