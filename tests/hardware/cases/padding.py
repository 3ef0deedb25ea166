"""Padding with values of the input: the backward pass adds at the edges."""

# ruff: noqa: PLW0108 - the parameters of a lambda name the inputs that it wants
from __future__ import annotations

from collections.abc import Callable

from tests.hardware.case import Call, Case, Inputs, Maker, Tensor, torch


def block(dimensions: int, small: int, large: int) -> Callable[[Maker], Inputs]:
    def make(maker: Maker) -> Inputs:
        return {"x": maker.floats(2, 4, *[maker.by_size(small, large)] * dimensions, grad=True)}

    return make


def pad(mode: str, dimensions: int) -> Call:
    """As wide as it goes: many values meet at an edge."""

    def call(x: Tensor) -> Tensor:
        widths = [x.shape[-1] - 1] * (2 * dimensions)
        return torch.nn.functional.pad(x, widths, mode=mode)

    return call


def spectrum(x: Tensor) -> Tensor:
    window = torch.ones(16, device=x.device)
    return torch.view_as_real(torch.stft(x.flatten(1), 16, window=window, return_complex=True))


CASES = (
    Case(
        id="replication_pad1d",
        make=block(1, 6, 4096),
        calls={"F.pad": pad("replicate", 1), "nn.ReplicationPad1d": lambda x: torch.nn.ReplicationPad1d(3)(x)},
        backward=True,
    ),
    Case(
        id="replication_pad2d",
        make=block(2, 6, 48),
        calls={"F.pad": pad("replicate", 2), "nn.ReplicationPad2d": lambda x: torch.nn.ReplicationPad2d(3)(x)},
        backward=True,
    ),
    Case(
        id="replication_pad3d",
        make=block(3, 4, 12),
        calls={"F.pad": pad("replicate", 3), "nn.ReplicationPad3d": lambda x: torch.nn.ReplicationPad3d(3)(x)},
        backward=True,
    ),
    Case(
        id="reflection_pad1d",
        make=block(1, 16, 4096),
        calls={
            "F.pad": pad("reflect", 1),
            "nn.ReflectionPad1d": lambda x: torch.nn.ReflectionPad1d(3)(x),
            "torch.stft": spectrum,
        },
        backward=True,
    ),
    Case(
        id="reflection_pad2d",
        make=block(2, 6, 48),
        calls={"F.pad": pad("reflect", 2), "nn.ReflectionPad2d": lambda x: torch.nn.ReflectionPad2d(3)(x)},
        backward=True,
    ),
    Case(
        id="reflection_pad3d",
        make=block(3, 4, 12),
        calls={"F.pad": pad("reflect", 3), "nn.ReflectionPad3d": lambda x: torch.nn.ReflectionPad3d(3)(x)},
        backward=True,
    ),
)
