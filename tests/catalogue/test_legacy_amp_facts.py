"""What the rule about deprecated mixed precision says of torch, asked of the torch that is installed."""

from __future__ import annotations

import importlib
import importlib.util
import warnings
from collections.abc import Callable

import pytest

from torchlint.checks.training.legacy_amp import OF_TORCH

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed"),
]


@pytest.mark.parametrize("name", sorted(OF_TORCH))
def test_the_old_name_warns_and_the_new_one_does_not(name: str) -> None:
    old, new = _called(name), _called(OF_TORCH[name])
    with pytest.warns(FutureWarning, match="deprecated"):
        old(*_FUNCTION) if "custom" in name else old(enabled=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error", FutureWarning)
        new(*_FUNCTION, device_type="cuda") if "custom" in name else new("cuda", enabled=False)


def _called(name: str) -> Callable[..., object]:
    module, _, attribute = name.rpartition(".")
    found: Callable[..., object] = getattr(importlib.import_module(module), attribute)
    return found


_FUNCTION = (lambda value: value,)
