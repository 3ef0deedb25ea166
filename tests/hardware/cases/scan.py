"""Cumulative sums and products of one long row: the path that varies on CUDA."""

# ruff: noqa: PLW0108 - the parameters of a lambda name the inputs that it wants
from __future__ import annotations

import importlib
from typing import Any

from tests.hardware.case import Call, Case, Inputs, Maker, Tensor, torch


def row(maker: Maker) -> Inputs:
    return {"x": maker.floats(maker.by_size(50, 1 << 18), grad=True)}


def near_one(maker: Maker) -> Inputs:
    """Products that neither vanish nor overflow, and a zero."""
    return {"x": maker.positive(maker.by_size(50, 1 << 16), low=0.999, high=1.001, grad=True)}


def with_zero(x: Tensor) -> Tensor:
    return x * (torch.arange(len(x), device=x.device) != len(x) - 3)


def masked(name: str) -> Call:
    """A function of torch.masked, which `import torch` does not load on every release."""

    def call(x: Tensor) -> Tensor:
        module: Any = importlib.import_module("torch.masked")
        return getattr(module, name)(x, 0, mask=x > x.min())

    return call


PRODUCTS: dict[str, Call] = {
    "torch.cumprod": lambda x: torch.cumprod(x, 0),
    "Tensor.cumprod_": lambda x: x.clone().cumprod_(0),
    "torch.masked.cumprod": masked("cumprod"),
}

CASES = (
    Case(
        id="cumsum",
        make=row,
        calls={
            "torch.cumsum": lambda x: torch.cumsum(x, 0),
            "Tensor.cumsum_": lambda x: x.clone().cumsum_(0),
            "torch.masked.cumsum": masked("cumsum"),
            "torch.cumulative_trapezoid": lambda x: torch.cumulative_trapezoid(x),
        },
        backward=True,
    ),
    Case(id="cumprod", make=near_one, calls=PRODUCTS, backward=True),
    Case(id="cumprod_scan", make=near_one, calls=PRODUCTS),
    Case(
        id="logcumsumexp",
        make=row,
        calls={
            "torch.logcumsumexp": lambda x: torch.logcumsumexp(x, 0),
            "Tensor.logcumsumexp": lambda x: x.logcumsumexp(0),
        },
        backward=True,
    ),
    Case(
        id="prod_backward",
        make=near_one,
        calls={
            "torch.prod": lambda x: torch.prod(with_zero(x)),
            "torch.prod(dim)": lambda x: torch.prod(with_zero(x), 0),
        },
        backward=True,
    ),
)
