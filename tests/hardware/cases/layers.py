"""Layers by cuBLAS and cuDNN, and embeddings."""

# ruff: noqa: PLW0108 - the parameters of a lambda name the inputs that it wants
from __future__ import annotations

from tests.hardware.case import Case, Inputs, Maker, Tensor, torch

functional = torch.nn.functional


def picture(maker: Maker) -> Inputs:
    side = maker.by_size(8, 64)
    return {
        "x": maker.floats(4, 8, side, side, grad=True),
        "weight": maker.floats(8, 8, 3, 3, grad=True),
    }


def matrices(maker: Maker) -> Inputs:
    side = maker.by_size(6, 128)
    return {
        "a": maker.floats(side, side, grad=True),
        "b": maker.floats(side, side, grad=True),
        "batch": maker.floats(3, side, side, grad=True),
        "v": maker.floats(side, grad=True),
    }


def inferred(a: Tensor, b: Tensor) -> Tensor:
    with torch.inference_mode():
        return functional.linear(a, b)


def table(maker: Maker) -> Inputs:
    """Few rows, looked up often."""
    return {"weight": maker.floats(4, 32, grad=True), "index": maker.indices(4, maker.by_size(32, 1 << 15))}


def segments(maker: Maker) -> Inputs:
    """The segments of many pairs of sentences."""
    return {"weight": maker.floats(2, 32, grad=True), "index": maker.indices(2, maker.by_size(128, 1 << 15))}


def sequences(maker: Maker) -> Inputs:
    return {
        "x": maker.floats(maker.by_size(3, 24), 8, 16, grad=True),
        "rnn": maker.module(lambda: torch.nn.RNN(16, 16)),
        "lstm": maker.module(lambda: torch.nn.LSTM(16, 16)),
        "gru": maker.module(lambda: torch.nn.GRU(16, 16)),
    }


CASES = (
    Case(
        id="convolution",
        make=picture,
        calls={
            "F.conv1d": lambda x, weight: functional.conv1d(x.flatten(2), weight.flatten(2)),
            "F.conv2d": lambda x, weight: functional.conv2d(x, weight),
            "F.conv3d": lambda x, weight: functional.conv3d(x.unsqueeze(2), weight.unsqueeze(2)),
            "F.conv_transpose2d": lambda x, weight: functional.conv_transpose2d(x, weight, stride=2),
        },
        backward=True,
    ),
    Case(
        id="cublas_gemm",
        make=matrices,
        calls={
            "torch.mm": lambda a, b: torch.mm(a, b),
            "torch.addmm": lambda a, b, v: torch.addmm(v, a, b),
            "torch.bmm": lambda batch: torch.bmm(batch, batch),
            "torch.baddbmm": lambda batch: torch.baddbmm(batch, batch, batch),
            "torch.mv": lambda a, v: torch.mv(a, v),
            "torch.addmv": lambda a, v: torch.addmv(v, a, v),
            "torch.dot": lambda v: torch.dot(v, v),
            "F.linear": lambda a, b, v: functional.linear(a, b, v),
            "F.linear in inference mode": inferred,
        },
        backward=True,
        torch=">=2.10",  # before, it depends on CUBLAS_WORKSPACE_CONFIG, which the program sets
    ),
    Case(
        id="embedding_dense",
        make=table,
        calls={
            "F.embedding": lambda weight, index: functional.embedding(index, weight),
            "torch.embedding": lambda weight, index: torch.embedding(weight, index),
        },
        backward=True,
        repeats_index=True,
    ),
    Case(
        id="embedding_few_rows",
        make=segments,
        calls={"F.embedding of two rows": lambda weight, index: functional.embedding(index, weight)},
        backward=True,
        repeats_index=True,
    ),
    Case(
        id="cudnn_rnn",
        make=sequences,
        calls={
            "nn.RNN": lambda x, rnn: rnn(x),
            "nn.LSTM": lambda x, lstm: lstm(x),
            "nn.GRU": lambda x, gru: gru(x),
        },
        backward=True,
    ),
)
