"""What the rule about copies to the host says of torch, asked of the torch that is installed."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest

from torchlint.checks.devices.host_copies.uses import VIEWING

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed"),
]

ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "broadcast_to": ((2, 6),),
    "chunk": (2,),
    "expand": (2, 6),
    "flatten": (),
    "movedim": (0, 1),
    "moveaxis": (0, 1),
    "narrow": (0, 0, 1),
    "permute": (1, 0),
    "reshape": (6, 2),
    "select": (0, 0),
    "split": (1,),
    "swapaxes": (0, 1),
    "swapdims": (0, 1),
    "transpose": (0, 1),
    "unflatten": (1, (2, 3)),
    "unfold": (1, 2, 1),
    "unsqueeze": (0,),
    "view": (6, 2),
}
OF_ANOTHER = ("expand_as", "reshape_as", "view_as")
OF_OTHER_TYPES = ("bfloat16", "bool", "byte", "double", "half", "int", "long", "short")


@pytest.mark.parametrize("method", sorted(VIEWING - set(OF_OTHER_TYPES)))
def test_views_read_no_values(method: str) -> None:
    import torch

    tensor = torch.zeros(2, 6)
    arguments = (tensor,) if method in OF_ANOTHER else ARGUMENTS.get(method, ())
    result = getattr(tensor, method)(*arguments)
    view = result[0] if isinstance(result, tuple | list) else result
    with torch.no_grad():
        tensor.fill_(7.0)
        assert float(view.reshape(-1)[0]) == 7.0


def test_cpu_has_no_such_flag() -> None:
    import torch

    with pytest.raises(TypeError):
        torch.zeros(1).cpu(non_blocking=True)  # type: ignore[call-arg]


def test_the_flag_is_the_third_argument_of_to() -> None:
    import torch

    assert torch.zeros(1).to("cpu", torch.float64, True).dtype is torch.float64  # noqa: FBT003
    with pytest.raises(TypeError):
        torch.zeros(1).to("cpu", True)  # type: ignore[call-overload]  # noqa: FBT003
