"""Reads through indices: their backward passes add at repeated places."""

from __future__ import annotations

from tests.hardware.case import Case, Inputs, Maker, torch


def rows(maker: Maker) -> Inputs:
    """Few rows, read often."""
    return {"x": maker.floats(8, 16, grad=True), "index": maker.indices(8, maker.by_size(64, 1 << 15))}


def places(maker: Maker) -> Inputs:
    return {"x": maker.floats(8, 16, grad=True), "index": maker.indices(8, maker.by_size(64, 1 << 14), 16)}


def repeats(maker: Maker) -> Inputs:
    return {"x": maker.floats(8, 16, grad=True), "counts": maker.indices(maker.by_size(8, 1 << 13), 8) + 1}


def signal(maker: Maker) -> Inputs:
    return {"x": maker.floats(maker.by_size(64, 1 << 12), grad=True)}


def windows(length: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Size and stride of overlapping windows."""
    return (length - 31, 32), (1, 1)


def often(maker: Maker) -> Inputs:
    """As `rows`; so often that threads of the CPU, too, meet at a place."""
    return {"x": maker.floats(8, 8, grad=True), "index": maker.indices(8, maker.by_size(64, 1 << 18))}


CASES = (
    Case(
        id="getitem_backward",
        make=often,
        calls={"x[index]": lambda x, index: x[index], "x[index, index]": lambda x, index: x[index, index]},
        backward=True,
        repeats_index=True,
    ),
    Case(
        id="index_select_backward",
        make=rows,
        calls={
            "torch.index_select": lambda x, index: torch.index_select(x, 0, index),
            "Tensor.index_select": lambda x, index: x.index_select(0, index),
        },
        backward=True,
        repeats_index=True,
    ),
    Case(
        id="gather_backward",
        make=places,
        calls={
            "torch.gather": lambda x, index: torch.gather(x, 0, index),
            "torch.take_along_dim": lambda x, index: torch.take_along_dim(x, index, 0),
            "torch.quantile": lambda x: torch.quantile(x.expand(64, 8, 16), x.new_tensor([0.2, 0.7]), 2),
            "torch.nanquantile": lambda x: torch.nanquantile(x, x.new_tensor([0.2, 0.7]), 1),
            "torch.cummax": lambda x, index: torch.cummax(torch.gather(x, 0, index), 0).values,
            "torch.cummin": lambda x, index: torch.cummin(torch.gather(x, 0, index), 0).values,
        },
        backward=True,
        repeats_index=True,
    ),
    Case(
        id="repeat_interleave_backward",
        make=repeats,
        calls={
            "torch.repeat_interleave": lambda x, counts: torch.repeat_interleave(x, counts, 0),
            "Tensor.repeat_interleave": lambda x, counts: x.repeat_interleave(counts, 0),
        },
        backward=True,
    ),
    Case(
        id="as_strided_backward",
        make=signal,
        calls={
            "torch.as_strided": lambda x: torch.as_strided(x, *windows(len(x))),
            "torch.as_strided_": lambda x: torch.as_strided_(x.clone(), *windows(len(x))),
        },
        backward=True,
    ),
    Case(
        id="stft_frames",
        make=signal,
        calls={
            "torch.stft": lambda x: torch.stft(x, 32, 8, center=False, return_complex=True).abs(),
            "Tensor.stft": lambda x: x.stft(32, 8, center=False, return_complex=True).abs(),
        },
        backward=True,
    ),
    Case(id="unfold_backward", make=signal, calls={"Tensor.unfold": lambda x: x.unfold(0, 32, 1)}, backward=True),
)
