"""Histograms: many values in few bins."""

# ruff: noqa: PLW0108 - the parameters of a lambda name the inputs that it wants
from __future__ import annotations

from tests.hardware.case import Case, Inputs, Maker, torch


def values(maker: Maker) -> Inputs:
    return {"x": maker.floats(maker.by_size(100, 1 << 16))}


def integers(maker: Maker) -> Inputs:
    return {"x": maker.indices(10, maker.by_size(100, 1 << 16))}


def counted(maker: Maker) -> Inputs:
    count = maker.by_size(100, 1 << 16)
    return {"x": maker.indices(8, count), "weights": maker.floats(count)}


def points(maker: Maker) -> Inputs:
    return {"x": maker.floats(maker.by_size(100, 1 << 14), 2)}


CASES = (
    Case(
        id="histc",
        make=values,
        calls={
            "torch.histc": lambda x: torch.histc(x, 10, -3, 3),
            "Tensor.histc": lambda x: x.histc(10, -3, 3),
        },
    ),
    Case(
        id="histc_integer",
        make=integers,
        calls={"torch.histc": lambda x: torch.histc(x, 10, 0, 9), "Tensor.histc": lambda x: x.histc(10, 0, 9)},
        devices=("cuda", "xpu"),  # the others take floating-point values only
    ),
    Case(
        id="bincount",
        make=counted,
        calls={
            "torch.bincount": lambda x, weights: torch.bincount(x, weights),
            "Tensor.bincount": lambda x, weights: x.bincount(weights),
        },
        repeats_index=True,
    ),
    Case(
        id="bincount_unweighted",
        make=counted,
        calls={"torch.bincount": lambda x: torch.bincount(x), "Tensor.bincount": lambda x: x.bincount()},
        repeats_index=True,
    ),
    Case(
        id="histogramdd_xpu",
        make=points,
        calls={
            "torch.histogram": lambda x: torch.histogram(x.flatten(), 10, range=(-3.0, 3.0)),
            "torch.histogramdd": lambda x: torch.histogramdd(x, [5, 5]),
        },
        devices=("cpu", "xpu"),  # there is no kernel for the others
    ),
)
