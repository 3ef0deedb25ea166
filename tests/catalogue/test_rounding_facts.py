"""What TL607 believes about rounding, asked of the installed torch, as far as one device can say."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed"),
]

Torch = Any
Tensor = Any

OPERATORS: dict[str, Callable[[Torch, Tensor], Tensor]] = {
    "mm": lambda _, x: x @ x,
    "sum": lambda _, x: x.sum(),
    "mean": lambda _, x: x.mean(),
    "softmax": lambda _, x: x.softmax(-1),
    "exp": lambda _, x: x.exp(),
    "layer_norm": lambda torch, x: torch.layer_norm(x, x.shape[-1:]),
}


@pytest.fixture
def x() -> Tensor:
    torch = importlib.import_module("torch")
    return torch.randn(64, 64, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("name", ["mm", "sum", "mean", "softmax", "exp", "layer_norm"])
@pytest.mark.parametrize("element", ["float16", "bfloat16", "float64"])
def test_another_float_type_rounds_another_way(x: Tensor, name: str, element: str) -> None:
    torch = importlib.import_module("torch")
    other = OPERATORS[name](torch, x.to(getattr(torch, element)))
    assert not torch.equal(other.float(), OPERATORS[name](torch, x))


def test_a_copy_to_a_wider_type_and_back_is_exact(x: Tensor) -> None:
    torch = importlib.import_module("torch")
    assert torch.equal(x.double().float(), x)
    assert torch.equal(x.clone(), x)
