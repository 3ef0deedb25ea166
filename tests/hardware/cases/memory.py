"""Memory that nothing has written, and the resize of quantized tensors."""

# ruff: noqa: PLW0108 - the parameters of a lambda name the inputs that it wants
from __future__ import annotations

from tests.hardware.case import Case, Inputs, Maker, torch


def example(maker: Maker) -> Inputs:
    return {"x": maker.floats(maker.by_size(4, 1 << 8), maker.by_size(4, 1 << 8))}


def quantized(maker: Maker) -> Inputs:
    return {"x": torch.quantize_per_tensor(maker.floats(8), 0.1, 0, torch.qint8)}


CASES = (
    Case(
        id="uninitialized_memory",
        make=example,
        calls={
            "torch.empty": lambda x: torch.empty(x.shape, device=x.device),
            "torch.empty_like": lambda x: torch.empty_like(x),
            "torch.empty_strided": lambda x: torch.empty_strided(x.shape, x.stride(), device=x.device),
            "torch.empty_permuted": lambda x: torch.empty_permuted(x.shape, (1, 0), device=x.device),
            "Tensor.new_empty": lambda x: x.new_empty(x.shape),
            "Tensor.new_empty_strided": lambda x: x.new_empty_strided(x.shape, x.stride()),
            "Tensor.new": lambda x: x.new(*x.shape),
            "Tensor.resize_": lambda x: x.new_zeros(0).resize_(x.shape),
            "Tensor.resize_as_": lambda x: x.new_zeros(0).resize_as_(x),
        },
    ),
    Case(
        id="quantized_resize",
        make=quantized,
        calls={"Tensor.resize_": lambda x: x.clone().resize_(4).int_repr()},
        devices=("cpu",),
    ),
)
