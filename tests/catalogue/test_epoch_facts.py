"""What TL405 and TL313 say about torch, asked of the torch that is installed."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
from collections.abc import Iterator
from types import ModuleType
from typing import Protocol

import pytest

from torchlint.checks.data_loading import sampler_epoch

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed"),
]


@pytest.fixture(scope="module")
def torch() -> ModuleType:
    return importlib.import_module("torch")


class Sampler(Protocol):
    def set_epoch(self, epoch: int) -> None: ...
    def __iter__(self) -> Iterator[int]: ...


def orders(sampler: Sampler, *, told: bool) -> list[list[int]]:
    found = []
    for epoch in range(3):
        if told:
            sampler.set_epoch(epoch)
        found.append(list(sampler))
    return found


def test_a_distributed_sampler_shuffles_alike_until_it_is_told_the_epoch(torch: ModuleType) -> None:
    sampler = torch.utils.data.DistributedSampler(range(64), num_replicas=2, rank=0)

    first, *others = orders(sampler, told=False)
    assert first != sorted(first)
    assert all(order == first for order in others)

    told = orders(sampler, told=True)
    assert told[0] == first
    assert len({tuple(order) for order in told}) == len(told)


def test_the_positions_of_arguments(torch: ModuleType) -> None:
    parameters = list(inspect.signature(torch.utils.data.DistributedSampler).parameters)
    assert parameters[sampler_epoch._SHUFFLE] == "shuffle"
    parameters = list(inspect.signature(torch.utils.data.DataLoader).parameters)
    assert {name: parameters.index(name) for name in sampler_epoch._SAMPLER_AT} == sampler_epoch._SAMPLER_AT


def test_plain_sgd_keeps_nothing_between_steps_and_others_do(torch: ModuleType) -> None:
    kept = {}
    for name, options in (("SGD", {}), ("SGD", {"momentum": 0.9}), ("Adam", {})):
        spelled = f"{name} with momentum" if options else name
        weight = torch.nn.Parameter(torch.ones(2))
        optimizer = getattr(torch.optim, name)([weight], lr=0.1, **options)
        weight.sum().backward()
        optimizer.step()
        states = optimizer.state_dict()["state"].values()
        kept[spelled] = any(value is not None for state in states for value in state.values())
    assert kept == {"SGD": False, "SGD with momentum": True, "Adam": True}


def test_a_training_that_resumes_with_a_kept_state_goes_on_with_the_batches_of_one_run(torch: ModuleType) -> None:
    def epoch() -> list[int]:
        return [int(batch) for batch in torch.utils.data.DataLoader(range(64), shuffle=True)]

    torch.manual_seed(0)
    first, kept, second = epoch(), torch.get_rng_state(), epoch()

    torch.manual_seed(0)
    assert epoch() == first, "a resumed run that only seeds again repeats the beginning"
    torch.manual_seed(0)
    torch.set_rng_state(kept)
    assert epoch() == second
