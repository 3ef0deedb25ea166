"""Order statistics of values that occur many times."""

from __future__ import annotations

from tests.hardware.case import Case, Inputs, Maker, torch


def ties(maker: Maker) -> Inputs:
    return {"x": maker.ties(5, 4, maker.by_size(40, 1 << 14))}


CASES = (
    Case(
        id="kthvalue",
        make=ties,
        calls={"torch.kthvalue": lambda x: torch.kthvalue(x, 7), "Tensor.kthvalue": lambda x: x.kthvalue(7)},
    ),
    Case(
        id="median_dim",
        make=ties,
        calls={
            "torch.median": lambda x: torch.median(x, 1),
            "torch.nanmedian": lambda x: torch.nanmedian(x, 1),
            "Tensor.median": lambda x: x.median(1),
        },
        devices=("cpu", "cuda", "xpu"),
    ),
    Case(
        id="mode",
        make=ties,
        calls={"torch.mode": lambda x: torch.mode(x, 1)},
        devices=("cpu", "cuda", "xpu"),
    ),
    Case(
        id="topk_sort_ties",
        make=ties,
        calls={
            "torch.sort": lambda x: torch.sort(x, 1),
            "torch.sort(stable=False)": lambda x: torch.sort(x, dim=1, stable=False),
            "torch.argsort": lambda x: torch.argsort(x, 1),
        },
    ),
    Case(id="topk_ties", make=ties, calls={"torch.topk": lambda x: torch.topk(x, 16, 1)}),
)
