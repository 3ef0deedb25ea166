"""Interpolation: the backward pass of a resize adds to the pixels that a new one was made of."""

# ruff: noqa: PLW0108 - the parameters of a lambda name the inputs that it wants
from __future__ import annotations

from collections.abc import Callable

from tests.hardware.case import Call, Case, Inputs, Maker, Tensor, torch

functional = torch.nn.functional


def image(dimensions: int, small: int, large: int) -> Callable[[Maker], Inputs]:
    def make(maker: Maker) -> Inputs:
        return {"x": maker.floats(2, 3, *[maker.by_size(small, large)] * dimensions, grad=True)}

    return make


def resize(mode: str, *, antialias: bool = False, scale: float = 4) -> Call:
    corners = None if mode == "area" else False

    def call(x: Tensor) -> Tensor:
        return functional.interpolate(x, scale_factor=scale, mode=mode, align_corners=corners, antialias=antialias)

    return call


def module(mode: str) -> Call:
    return lambda x: torch.nn.Upsample(scale_factor=4, mode=mode)(x)


CASES = (
    Case(
        id="upsample_linear1d",
        make=image(1, 8, 4096),
        calls={"F.interpolate": resize("linear"), "nn.Upsample": module("linear")},
        backward=True,
    ),
    Case(
        id="upsample_bilinear2d",
        make=image(2, 6, 64),
        calls={
            "F.interpolate": resize("bilinear"),
            "nn.Upsample": module("bilinear"),
            "nn.UpsamplingBilinear2d": lambda x: torch.nn.UpsamplingBilinear2d(scale_factor=4)(x),
        },
        backward=True,
    ),
    Case(
        id="upsample_bicubic2d",
        make=image(2, 6, 32),
        calls={"F.interpolate": resize("bicubic"), "nn.Upsample": module("bicubic")},
        backward=True,
    ),
    Case(
        id="upsample_trilinear3d",
        make=image(3, 4, 12),
        calls={"F.interpolate": resize("trilinear"), "nn.Upsample": module("trilinear")},
        backward=True,
    ),
    Case(
        id="upsample_bilinear2d_aa",
        make=image(2, 12, 128),
        calls={"F.interpolate(antialias=True)": resize("bilinear", antialias=True, scale=0.4)},
        backward=True,
    ),
    Case(
        id="upsample_bicubic2d_aa",
        make=image(2, 12, 128),
        calls={"F.interpolate(antialias=True)": resize("bicubic", antialias=True, scale=0.4)},
        backward=True,
    ),
    # A size that the new one does not divide: the windows overlap.
    Case(
        id="interpolate_area1d",
        make=image(1, 11, 8191),
        calls={"F.interpolate": resize("area", scale=0.4), "nn.Upsample": module("area")},
        backward=True,
    ),
    Case(
        id="interpolate_area2d",
        make=image(2, 11, 127),
        calls={"F.interpolate": resize("area", scale=0.4)},
        backward=True,
    ),
    Case(
        id="interpolate_area3d",
        make=image(3, 7, 23),
        calls={"F.interpolate": resize("area", scale=0.4)},
        backward=True,
    ),
)
