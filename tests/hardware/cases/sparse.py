"""Products of sparse tensors. Results are made dense, so that they can be compared."""

# ruff: noqa: PLW0108 - the parameters of a lambda name the inputs that it wants
from __future__ import annotations

from tests.hardware.case import Case, Inputs, Maker, torch


def operands(maker: Maker) -> Inputs:
    """A sparse matrix with many entries to a row, and a dense one."""
    rows, columns = maker.by_size(4, 64), maker.by_size(8, 2048)
    dense = maker.floats(rows, columns)
    kept = dense * (maker.positive(rows, columns, low=0, high=1) < 0.3)
    return {
        "a": kept.to_sparse().requires_grad_(),
        "b": maker.floats(columns, 16, grad=True),
        "c": maker.floats(rows, 16, grad=True),
    }


def batch(maker: Maker) -> Inputs:
    rows, columns = maker.by_size(4, 32), maker.by_size(8, 1024)
    dense = maker.floats(3, rows, columns)
    kept = dense * (maker.positive(3, rows, columns, low=0, high=1) < 0.3)
    return {"a": kept.to_sparse(), "b": maker.floats(3, columns, 16)}


CASES = (
    Case(
        id="bmm_sparse",
        make=batch,
        calls={"torch.bmm": lambda a, b: torch.bmm(a, b)},
        devices=("cpu", "cuda", "xpu"),
    ),
    Case(
        id="sparse_mm",
        make=operands,
        calls={
            "torch.sparse.mm": lambda a, b: torch.sparse.mm(a, b),
            "torch.sparse.mm of sparse tensors": lambda a: torch.sparse.mm(a, a.detach().t()).to_dense(),
            "torch.sparse.addmm": lambda a, b, c: torch.sparse.addmm(c, a, b),
            "torch.sparse.sampled_addmm": lambda c: torch.sparse.sampled_addmm(
                (c.detach() @ c.detach().t()).relu().to_sparse_csr(), c.detach(), c.detach().t()
            ).to_dense(),
            "torch.hspmm": lambda a, b: torch.hspmm(a.detach(), b.detach()).to_dense(),
            "torch.smm": lambda a, b: torch.smm(a.detach(), b.detach()).to_dense(),  # neither has a backward pass
        },
        backward=True,
        devices=("cpu", "cuda", "xpu"),
    ),
)
