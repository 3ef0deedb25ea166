"""What TL314 says about training mode, asked of the torch that is installed."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

import pytest

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed"),
]

Torch = Any


@pytest.fixture
def torch() -> Torch:
    return importlib.import_module("torch")


def test_loading_weights_leaves_training_mode_on(torch: Torch) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Dropout())
    model.load_state_dict(model.state_dict())
    with torch.no_grad():
        assert model[1].training


def test_dropout_changes_a_prediction_from_call_to_call(torch: Torch) -> None:
    torch.manual_seed(0)
    dropout, x = torch.nn.Dropout(0.5), torch.ones(64)
    with torch.no_grad():
        assert not torch.equal(dropout(x), dropout(x))
        assert torch.equal(dropout.eval()(x), x)


def test_a_batch_norm_in_training_mode_looks_at_the_other_samples_and_changes_itself(torch: Torch) -> None:
    torch.manual_seed(0)
    norm, x = torch.nn.BatchNorm1d(3), torch.randn(8, 3)
    before = norm.running_mean.clone()
    with torch.no_grad():
        assert not torch.allclose(norm(x)[:4], norm(x[:4]))
        assert not torch.equal(norm.running_mean, before)
        norm.eval()
        assert torch.allclose(norm(x)[:4], norm(x[:4]))


def test_a_norm_without_running_statistics_is_the_same_in_both_modes(torch: Torch) -> None:
    torch.manual_seed(0)
    norm, x = torch.nn.BatchNorm1d(3, track_running_stats=False), torch.randn(8, 3)
    assert torch.equal(norm(x), norm.eval()(x))
