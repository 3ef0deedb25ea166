"""Grid sampling: the backward pass adds to the pixels that a point lies between."""

# ruff: noqa: PLW0108 - the parameters of a lambda name the inputs that it wants
from __future__ import annotations

from tests.hardware.case import Case, Inputs, Maker, torch

functional = torch.nn.functional


def plane(maker: Maker) -> Inputs:
    """A small image and many points, so that many points share a pixel."""
    points = maker.by_size(6, 128)
    return {
        "x": maker.floats(2, 3, 8, 8, grad=True),
        "grid": maker.positive(2, points, points, 2, low=-1, high=1, grad=True),
    }


def volume(maker: Maker) -> Inputs:
    points = maker.by_size(4, 24)
    shape = (2, points, points, points, 3)
    return {"x": maker.floats(2, 3, 6, 6, 6, grad=True), "grid": maker.positive(*shape, low=-1, high=1, grad=True)}


CASES = (
    Case(
        id="grid_sampler_2d",
        make=plane,
        calls={
            "F.grid_sample": lambda x, grid: functional.grid_sample(x, grid, align_corners=False),
            "torch.grid_sampler": lambda x, grid: torch.grid_sampler(x, grid, 0, 0, align_corners=False),
            "torch.grid_sampler_2d": lambda x, grid: torch.grid_sampler_2d(x, grid, 0, 0, align_corners=False),
        },
        backward=True,
    ),
    Case(
        id="grid_sampler_3d",
        make=volume,
        calls={
            "F.grid_sample": lambda x, grid: functional.grid_sample(x, grid, align_corners=False),
            "torch.grid_sampler_3d": lambda x, grid: torch.grid_sampler_3d(x, grid, 0, 0, align_corners=False),
        },
        backward=True,
    ),
    Case(
        id="cudnn_grid_sampler",
        make=plane,
        calls={
            "F.grid_sample(align_corners=True)": lambda x, grid: functional.grid_sample(x, grid, align_corners=True),
            "torch.cudnn_grid_sampler": lambda x, grid: torch.cudnn_grid_sampler(x, grid),
        },
        backward=True,
        devices=("cuda",),
    ),
)
