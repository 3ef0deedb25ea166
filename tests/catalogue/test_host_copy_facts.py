"""What the rule about copies to the host says of torch, asked of the torch that is installed."""

from __future__ import annotations

import importlib.util

import pytest

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed"),
]


def test_cpu_has_no_such_flag() -> None:
    import torch

    with pytest.raises(TypeError):
        torch.zeros(1).cpu(non_blocking=True)  # type: ignore[call-arg]


def test_the_flag_is_the_third_argument_of_to() -> None:
    import torch

    assert torch.zeros(1).to("cpu", torch.float64, True).dtype is torch.float64  # noqa: FBT003
    with pytest.raises(TypeError):
        torch.zeros(1).to("cpu", True)  # type: ignore[call-overload]  # noqa: FBT003
