"""Pooling with overlapping windows, and unpooling to repeated places."""

# ruff: noqa: PLW0108 - the parameters of a lambda name the inputs that it wants
from __future__ import annotations

from collections.abc import Callable

from tests.hardware.case import Case, Inputs, Maker, Tensor, torch

functional = torch.nn.functional


def block(dimensions: int, small: int, large: int) -> Callable[[Maker], Inputs]:
    """A prime number to a side: no window divides it."""

    def make(maker: Maker) -> Inputs:
        return {"x": maker.floats(2, 4, *[maker.by_size(small, large)] * dimensions, grad=True)}

    return make


def unpooled(maker: Maker) -> Inputs:
    """Values to be put at few places."""
    side = maker.by_size(4, 48)
    return {"x": maker.floats(2, 3, side, side), "index": maker.indices(9, 2, 3, side, side)}


def linear(x: Tensor) -> Tensor:
    """Two of the dimensions in one, for a 1d call."""
    return x.flatten(2)


AVERAGES = (
    Case(
        id="avg_pool3d",
        make=block(3, 7, 23),
        calls={
            "F.avg_pool3d": lambda x: functional.avg_pool3d(x, 3, 2),
            "nn.AvgPool3d": lambda x: torch.nn.AvgPool3d(3, 2)(x),
            "F.lp_pool3d": lambda x: functional.lp_pool3d(x, 2, 3, 2),
        },
        backward=True,
    ),
    Case(
        id="adaptive_avg_pool2d",
        make=block(2, 7, 127),
        calls={
            "F.adaptive_avg_pool2d": lambda x: functional.adaptive_avg_pool2d(x, 5),
            "nn.AdaptiveAvgPool2d((1, None))": lambda x: torch.nn.AdaptiveAvgPool2d((1, None))(x),
            "F.adaptive_avg_pool1d": lambda x: functional.adaptive_avg_pool1d(linear(x), 5),
        },
        backward=True,
    ),
    Case(
        id="adaptive_avg_pool3d",
        make=block(3, 7, 23),
        calls={
            "F.adaptive_avg_pool3d": lambda x: functional.adaptive_avg_pool3d(x, 5),
            "nn.AdaptiveAvgPool3d": lambda x: torch.nn.AdaptiveAvgPool3d((1, 2, 3))(x),
        },
        backward=True,
    ),
)

MAXIMA = (
    Case(
        id="adaptive_max_pool2d",
        make=block(2, 7, 127),
        calls={
            "F.adaptive_max_pool2d": lambda x: functional.adaptive_max_pool2d(x, 5),
            "nn.AdaptiveMaxPool2d(1)": lambda x: torch.nn.AdaptiveMaxPool2d(1)(x),
            "F.adaptive_max_pool1d": lambda x: functional.adaptive_max_pool1d(linear(x), 5),
        },
        backward=True,
    ),
    Case(
        id="adaptive_max_pool3d",
        make=block(3, 7, 23),
        # Indices only where they are asked for: the loss is a function of the values.
        calls={"F.adaptive_max_pool3d": lambda x: functional.adaptive_max_pool3d(x, 5)},
        backward=True,
    ),
    Case(
        id="max_pool3d",
        make=block(3, 7, 23),
        calls={
            "F.max_pool3d": lambda x: functional.max_pool3d(x, 3, 1),
            "nn.MaxPool3d": lambda x: torch.nn.MaxPool3d(3, 1)(x),
            "torch.max_pool3d": lambda x: torch.max_pool3d(x, 3, 1),
        },
        backward=True,
    ),
    Case(
        id="max_pool3d_with_indices",
        make=block(3, 7, 23),
        calls={
            "F.max_pool3d": lambda x: functional.max_pool3d(x, 3, 1, return_indices=True),
            "nn.MaxPool3d": lambda x: torch.nn.MaxPool3d(3, 1, return_indices=True)(x),
        },
        backward=True,
    ),
    Case(
        id="max_pool2d_mps",
        make=block(2, 7, 127),
        calls={
            "F.max_pool2d": lambda x: functional.max_pool2d(x, 3, 1),
            "nn.MaxPool2d": lambda x: torch.nn.MaxPool2d(3, 1)(x),
        },
        backward=True,
    ),
    Case(
        id="fractional_max_pool2d",
        make=block(2, 9, 127),
        calls={"F.fractional_max_pool2d": lambda x: functional.fractional_max_pool2d(x, 3, output_ratio=(0.7, 0.7))},
        backward=True,
    ),
    Case(
        id="fractional_max_pool3d",
        make=block(3, 9, 23),
        calls={"F.fractional_max_pool3d": lambda x: functional.fractional_max_pool3d(x, 3, output_ratio=(0.7,) * 3)},
        backward=True,
    ),
)

UNPOOLING = (
    Case(
        id="max_unpool",
        make=unpooled,
        calls={
            "F.max_unpool1d": lambda x, index: functional.max_unpool1d(linear(x), linear(index), 2),
            "F.max_unpool2d": lambda x, index: functional.max_unpool2d(x, index, 2),
            "F.max_unpool3d": lambda x, index: functional.max_unpool3d(x.unsqueeze(1), index.unsqueeze(1), 2),
        },
        repeats_index=True,
    ),
)

CASES = AVERAGES + MAXIMA + UNPOOLING
