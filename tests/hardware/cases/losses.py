"""Losses and reductions over bags."""

# ruff: noqa: PLW0108 - the parameters of a lambda name the inputs that it wants
from __future__ import annotations

from tests.hardware.case import Case, Inputs, Maker, torch

functional = torch.nn.functional


def segmentation(maker: Maker) -> Inputs:
    side = maker.by_size(4, 96)
    return {"x": maker.floats(4, 5, side, side, grad=True), "y": maker.indices(5, 4, side, side)}


def speech(maker: Maker) -> Inputs:
    """Repeated labels; more than cuDNN takes, so that torch's own kernel runs."""
    steps, batch, classes, length = maker.by_size(12, 256), 4, 6, maker.by_size(3, 64)
    return {
        "x": maker.floats(steps, batch, classes, grad=True),
        "y": maker.indices(classes - 1, batch, length) + 1,
        "times": torch.full((batch,), steps, dtype=torch.int64),
        "lengths": torch.full((batch,), length, dtype=torch.int64),
    }


def bags(maker: Maker) -> Inputs:
    count = maker.by_size(32, 1 << 14)
    return {
        "x": maker.floats(4, 16, grad=True),
        "index": maker.indices(4, count),
        "offsets": torch.arange(0, count, 8).to(maker.device),
        "weights": maker.positive(count, grad=True),
    }


CASES = (
    Case(
        id="nll_loss2d",
        make=segmentation,
        calls={
            "F.cross_entropy": lambda x, y: functional.cross_entropy(x, y),
            "F.cross_entropy on sequences": lambda x, y: functional.cross_entropy(x.flatten(2), y.flatten(1)),
            "F.nll_loss": lambda x, y: functional.nll_loss(x, y, reduction="sum"),
            "nn.NLLLoss": lambda x, y: torch.nn.NLLLoss()(x, y),
        },
        backward=True,
    ),
    Case(
        id="ctc_loss",
        make=speech,
        calls={
            "F.ctc_loss": lambda x, y, times, lengths: functional.ctc_loss(
                x.log_softmax(2), y, times.tolist(), lengths.tolist()
            ),
            "F.ctc_loss with lengths as tensors": lambda x, y, times, lengths: functional.ctc_loss(
                x.log_softmax(2), y, times, lengths
            ),
        },
        backward=True,
        repeats_index=True,
    ),
    Case(
        id="embedding_bag_max",
        make=bags,
        calls={
            "F.embedding_bag": lambda x, index, offsets: functional.embedding_bag(index, x, offsets, mode="max"),
        },
        backward=True,
        repeats_index=True,
    ),
    Case(
        id="embedding_bag_mps",
        make=bags,
        calls={
            "F.embedding_bag(mode='mean')": lambda x, index, offsets: functional.embedding_bag(
                index, x, offsets, mode="mean"
            ),
            "F.embedding_bag(mode='sum')": lambda x, index, offsets, weights: functional.embedding_bag(
                index, x, offsets, mode="sum", per_sample_weights=weights
            ),
        },
        backward=True,
        repeats_index=True,
    ),
)
