"""Attention: every kernel but the plain one is for CUDA, and takes half precision."""

from __future__ import annotations

import importlib
from typing import Any

from tests.hardware.case import Call, Case, Inputs, Maker, Tensor, torch

functional = torch.nn.functional


def attend(*backends: str) -> Call:
    """scaled_dot_product_attention by the first of these backends that takes the call."""

    def call(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        attention: Any = importlib.import_module("torch.nn.attention")
        chosen = [getattr(attention.SDPBackend, name) for name in backends]
        several = {"set_priority": True} if len(chosen) > 1 else {}
        with attention.sdpa_kernel(chosen, **several):
            return functional.scaled_dot_product_attention(query, key, value)

    return call


def half(maker: Maker) -> Inputs:
    """A long sequence: the gradient of the query is summed over blocks of keys."""
    shape = (2, 2, maker.by_size(16, 2048), 64)
    return {name: maker.floats(*shape, grad=True, dtype=torch.float16) for name in ("query", "key", "value")}


def single(maker: Maker) -> Inputs:
    shape = (2, 2, maker.by_size(16, 2048), 64)
    return {name: maker.floats(*shape, grad=True) for name in ("query", "key", "value")}


def sequence(maker: Maker) -> Inputs:
    dtype = torch.float16 if maker.device == "cuda" else torch.float32
    attention, layer = torch.nn.MultiheadAttention, torch.nn.TransformerEncoderLayer
    return {
        "x": maker.floats(2, maker.by_size(8, 512), 64, grad=True, dtype=dtype),
        "attention": maker.module(lambda: attention(64, 2, batch_first=True, dtype=dtype)),
        "layer": maker.module(lambda: layer(64, 2, 64, 0.0, batch_first=True, dtype=dtype)),
    }


CASES = (
    Case(
        id="sdpa_flash",
        make=half,
        calls={"F.scaled_dot_product_attention": attend("FLASH_ATTENTION")},
        backward=True,
        devices=("cuda",),
        torch=">=2.3",  # sdpa_kernel
    ),
    Case(
        id="sdpa_efficient",
        make=single,
        calls={"F.scaled_dot_product_attention": attend("EFFICIENT_ATTENTION")},
        backward=True,
        devices=("cuda",),
        torch=">=2.3",  # sdpa_kernel
    ),
    Case(
        id="sdpa_cudnn",
        make=half,
        # The mode may leave no kernel of cuDNN: the plain one is its alternative.
        calls={"F.scaled_dot_product_attention": attend("CUDNN_ATTENTION", "MATH")},
        backward=True,
        devices=("cuda",),
        torch=">=2.6",  # sdpa_kernel(set_priority=True)
    ),
    Case(id="flex_attention", not_run="BACKEND='FLASH' needs kernels that do not come with torch, and a compiler"),
    Case(id="compiled_flex_attention", not_run="only what Triton compiles for AMD varies, and that needs such a GPU"),
    Case(
        id="attention_modules",
        make=sequence,
        calls={
            "nn.MultiheadAttention": lambda x, attention: attention(x, x, x, need_weights=False),
            "nn.TransformerEncoderLayer": lambda x, layer: layer(x),
        },
        backward=True,
    ),
)
