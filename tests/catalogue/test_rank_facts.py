"""How many dimensions layers and functions take and return, asked of the torch that is installed."""

from __future__ import annotations

import functools
import importlib
import warnings
from collections.abc import Callable
from typing import Any, TypeAlias

import pytest

pytest.importorskip("torch")

from torchlint.catalogue.load import load_values
from torchlint.facts.constants import UNKNOWN
from torchlint.facts.tensors.ranks_of_layers import in_modes
from torchlint.facts.values import Values

pytestmark = pytest.mark.torch

Tensor: TypeAlias = Any
torch: Any = importlib.import_module("torch")
functional: Any = importlib.import_module("torch.nn.functional")
INSTALLED = f"on torch {torch.__version__}"
RANKS = range(1, 7)
REFUSED = (RuntimeError, ValueError, NotImplementedError, IndexError)


def made(name: str) -> Tensor:
    """A layer for two channels."""
    layer = getattr(torch.nn, name)
    if "LazyConv" in name:
        return layer(2, 1)
    if "Conv" in name:
        return layer(2, 2, 1)
    if "Norm" in name:
        return layer(*{"GroupNorm": (1, 2), "LocalResponseNorm": (2,)}.get(name, (2,)))
    if "Upsampling" in name:
        return layer(scale_factor=2)
    return layer(
        *{"Linear": (2, 2), "PixelShuffle": (1,), "PixelUnshuffle": (1,)}.get(name, (1,) if "Pool" in name else ())
    )


def called(name: str, x: Tensor) -> Tensor:
    function = getattr(functional, name)
    if name.startswith("conv"):
        return function(x, torch.rand(*[2, 2], *[1] * int(name[-2])))
    if name == "grid_sample":
        return function(x, torch.rand(*[2] * (x.ndim - 1), x.ndim - 2), align_corners=False)
    return function(x, 1) if "pool" in name else function(x, scale_factor=2)


def ranks_kept(call: Callable[[Tensor], Tensor]) -> frozenset[int]:
    """The numbers of dimensions that are taken; the result must have as many."""
    taken = set()
    for rank in RANKS:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = call(torch.rand(*[2] * rank))
        except REFUSED:
            continue
        assert found.ndim == rank, f"{rank}-D gives {found.ndim}-D {INSTALLED}"
        taken.add(rank)
    return frozenset(taken)


@pytest.mark.parametrize("name", sorted(load_values().layers))
def test_a_layer_takes_only_these(name: str) -> None:
    assert ranks_kept(made(name)) == load_values().layers[name], INSTALLED


@pytest.mark.parametrize("name", sorted(load_values().functions))
def test_a_function_takes_only_these(name: str) -> None:
    assert ranks_kept(functools.partial(called, name)) == load_values().functions[name], INSTALLED


@pytest.mark.parametrize("name", sorted(load_values().keeping_dimensions))
def test_a_layer_keeps_the_number_of_dimensions(name: str) -> None:
    assert ranks_kept(made(name)), INSTALLED


MODES = ["nearest", "nearest-exact", "linear", "bilinear", "bicubic", "trilinear", "area"]


@pytest.mark.parametrize("mode", MODES)
def test_a_mode_of_interpolation_takes_only_these(mode: str) -> None:
    expected = in_modes(Values((mode,), complete=True))
    assert ranks_kept(functools.partial(functional.interpolate, scale_factor=2, mode=mode)) <= expected, INSTALLED
    assert ranks_kept(torch.nn.Upsample(scale_factor=2, mode=mode)) <= expected, INSTALLED
    assert expected <= in_modes(UNKNOWN)
