"""What the rule about clipping says of gradient scalers, asked of the torch that is installed."""

from __future__ import annotations

import importlib.util

import pytest

from torchlint.checks.training.clip_before_unscale import CLIPS, SCALERS

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed"),
]


def _step(*, unscale: bool) -> float:
    """How far one step with a limit of 1 moves a weight whose gradient is 3."""
    import torch

    weight = torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=1.0)
    scaler = torch.amp.GradScaler("cpu")
    scaler.scale((weight * 3.0).sum()).backward()
    if unscale:
        scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_([weight], 1.0)
    scaler.step(optimizer)
    return abs(float(weight.detach()))


def test_the_limit_meets_gradients_that_are_multiplied() -> None:
    assert _step(unscale=True) == pytest.approx(1.0, rel=1e-4)
    assert _step(unscale=False) == pytest.approx(1.0 / 65536, rel=1e-4)


@pytest.mark.parametrize("name", sorted(SCALERS | CLIPS))
def test_the_names_are_torch_s(name: str) -> None:
    module, _, attribute = name.rpartition(".")
    assert callable(getattr(importlib.import_module(module), attribute))
