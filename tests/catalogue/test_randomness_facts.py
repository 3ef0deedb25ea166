"""What the rules about dropout, seeds and checkpoints believe. Asked of the installed torch."""

from __future__ import annotations

import gc
import importlib
import importlib.util
import inspect
import random
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed"),
]

Torch = Any
Tensor = Any


@pytest.fixture
def torch() -> Torch:
    importlib.import_module("torch.utils.checkpoint")
    return importlib.import_module("torch")


def default_of(function: Callable[..., object], parameter: str) -> object:
    return inspect.signature(function).parameters[parameter].default


@pytest.mark.parametrize("name", ["dropout", "dropout1d", "dropout2d", "dropout3d"])
def test_functional_dropout_is_on_unless_told(torch: Torch, name: str) -> None:
    function = getattr(torch.nn.functional, name)
    assert default_of(function, "training") is True
    assert list(inspect.signature(function).parameters)[:3] == ["input", "p", "training"]


@pytest.mark.parametrize("name", ["alpha_dropout", "feature_alpha_dropout"])
def test_alpha_dropout_is_off_unless_told(torch: Torch, name: str) -> None:
    assert default_of(getattr(torch.nn.functional, name), "training") is False


def test_evaluation_does_not_stop_functional_dropout(torch: Torch) -> None:
    class Model(torch.nn.Module):  # type: ignore[misc]
        def forward(self, x: Tensor) -> Tensor:
            return torch.nn.functional.dropout(x, 0.5)

    model = Model().eval()
    assert (model(torch.ones(1000)) == 0).any()


def test_a_loader_takes_what_it_calls_by_these_names_and_places(torch: Torch) -> None:
    parameters = list(inspect.signature(torch.utils.data.DataLoader.__init__).parameters)[1:]
    assert parameters[5] == "num_workers"
    assert parameters[10] == "worker_init_fn"


def test_seeding_in_place_of_a_function_gives_a_loader_none(torch: Torch) -> None:
    assert random.seed(0) is None
    assert torch.utils.data.DataLoader([1, 2], worker_init_fn=None).worker_init_fn is None


class Draws:
    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: int) -> float:
        return random.gauss(0, 1)


def draws(torch: Torch, worker_init: Callable[..., object]) -> list[float]:
    loader = torch.utils.data.DataLoader(
        Draws(), num_workers=2, worker_init_fn=worker_init, multiprocessing_context="fork"
    )
    return [float(batch) for batch in loader]


def test_workers_with_one_seed_repeat_each_other_and_the_epoch_before(torch: Torch) -> None:
    first, second = draws(torch, lambda _: random.seed(0))
    assert first == second
    assert draws(torch, lambda _: random.seed(0)) == [first, second]
    first, second = draws(torch, random.seed)
    assert first != second


def test_a_worker_calls_its_function_with_its_number_alone(torch: Torch, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = torch.utils.data._utils
    for part in (parts, parts.worker):  # a failed worker is waited for that long, when its loader goes
        monkeypatch.setattr(part, "MP_STATUS_CHECK_INTERVAL", 0.1)
    with pytest.raises(TypeError):
        draws(torch, lambda: None)
    with pytest.raises(TypeError):
        draws(torch, lambda _worker, _seed: None)
    gc.collect()


@pytest.mark.parametrize("preserved", [True, False])
def test_a_checkpoint_draws_again_unless_the_state_is_preserved(torch: Torch, *, preserved: bool) -> None:
    masks = []

    def part(x: Tensor) -> Tensor:
        mask = torch.rand(1000)
        masks.append(mask)
        return x * mask

    torch.manual_seed(0)
    x = torch.ones(1000, requires_grad=True)
    checkpoint = torch.utils.checkpoint.checkpoint
    checkpoint(part, x, use_reentrant=False, preserve_rng_state=preserved).sum().backward()
    first, second = masks
    assert torch.equal(first, second) is preserved
