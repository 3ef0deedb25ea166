"""Numbers: losses, linear algebra, transforms, indices that are harmless, graphs, gradients by hand."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from tests.verify.clean_modules.entry import Build, Table
from tests.verify.flagged import floats, indices

Function = Callable[[torch.Tensor], Any]


class After(nn.Module):
    """A function of what a layer returns."""

    def __init__(self, function: Function, width: int = 16) -> None:
        super().__init__()
        self.body = nn.Linear(16, width)
        self.function = function

    def forward(self, x: torch.Tensor) -> Any:  # noqa: ANN401
        return self.function(self.body(x))


def after(function: Function) -> Build:
    return lambda: After(function)


class Clipped(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:  # noqa: ANN401
        ctx.save_for_backward(x)
        return x.sign()

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:  # noqa: ANN401
        (x,) = ctx.saved_tensors
        return gradient * (x.abs() <= 1)


class GradientPenalty(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.detach().requires_grad_()
        (slope,) = torch.autograd.grad(self.body(x).sum(), x, create_graph=True)
        return (slope.norm(dim=1) - 1).square().mean()


class Functional(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Linear(16, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        def energy(row: torch.Tensor) -> torch.Tensor:
            return torch.func.functional_call(self.body, dict(self.body.named_parameters()), (row,)).square().sum()

        return torch.func.vmap(torch.func.grad(energy))(x)


class Edges(nn.Module):
    """A sum over edges: `index_add` of the CPU goes through them one by one."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Linear(16, 16)

    def forward(self, x: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
        messages = self.body(x).index_select(0, edges[0])
        return torch.zeros_like(x).index_add(0, edges[1], messages)


class Adjacency(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Linear(16, 16)
        self.register_buffer("links", (floats(8, 8) > 0).float().to_sparse_csr(), persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = self.body(x[:8])
        return torch.sparse.mm(self.get_buffer("links"), rows)


class Spectrum(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.filter = nn.Parameter(torch.complex(floats(9), floats(9)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.fft.irfft(torch.fft.rfft(x) * self.filter, n=16)


class ComplexLinear(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Linear(16, 8, dtype=torch.complex64)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.body(x.to(torch.complex64))


class HyperNetwork(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.code = nn.Parameter(floats(4))
        self.weights = nn.Linear(4, 16 * 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return functional.linear(x, self.weights(self.code).view(8, 16))


class Flow(nn.Module):
    """Euler steps with the logarithm of a determinant."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Linear(16, 16)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        for _ in range(3):
            x = x + 0.1 * torch.tanh(self.body(x))
        return x, torch.linalg.slogdet(torch.eye(16) + 0.1 * self.body.weight)[1]


def labels(x: torch.Tensor) -> torch.Tensor:
    return torch.arange(len(x)) % x.shape[1]


def contrast(x: torch.Tensor) -> torch.Tensor:
    first, second = functional.normalize(x, dim=1), functional.normalize(x.roll(1, 1), dim=1)
    return functional.cross_entropy(first @ second.T / 0.1, torch.arange(len(x)))


def dice(x: torch.Tensor) -> torch.Tensor:
    truth = functional.one_hot(labels(x), x.shape[1]).float()
    shares = x.softmax(1)
    return 1 - (2 * (shares * truth).sum(0) / (shares + truth).sum(0)).mean()


def focal(x: torch.Tensor) -> torch.Tensor:
    loss = functional.cross_entropy(x, labels(x), reduction="none", label_smoothing=0.1)
    return ((1 - (-loss).exp()) ** 2 * loss).mean()


def alignment(x: torch.Tensor) -> torch.Tensor:
    lengths = torch.full((2,), len(x))
    scores = x.log_softmax(-1)[:, None].expand(-1, 2, -1)
    return functional.ctc_loss(scores, torch.tensor([[1, 2], [3, 3]]), lengths, torch.full((2,), 2), zero_infinity=True)


def triplet(x: torch.Tensor) -> torch.Tensor:
    return functional.triplet_margin_loss(x, x.roll(1, 0), x.roll(2, 0)) + functional.multi_margin_loss(x, labels(x))


def regressions(x: torch.Tensor) -> torch.Tensor:
    truth = torch.linspace(-1, 1, x.numel()).view_as(x)
    losses = (functional.mse_loss, functional.l1_loss, functional.smooth_l1_loss, functional.huber_loss)
    return torch.stack([loss(x, truth) for loss in losses])


def likelihoods(x: torch.Tensor) -> torch.Tensor:
    truth = torch.linspace(0.1, 1, x.numel()).view_as(x)
    return torch.stack(
        [
            functional.gaussian_nll_loss(x, truth, torch.ones_like(x)),
            functional.poisson_nll_loss(x, truth),
            functional.binary_cross_entropy_with_logits(x, truth),
            functional.kl_div(x.log_softmax(-1), truth.softmax(-1), reduction="batchmean"),
        ]
    )


def solved(x: torch.Tensor) -> torch.Tensor:
    gram = x.T @ x + torch.eye(x.shape[1])
    return torch.linalg.solve(gram, x.T) + torch.cholesky_solve(x.T, torch.linalg.cholesky(gram))


def decomposed(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    gram = x.T @ x + torch.diag(torch.arange(1.0, x.shape[1] + 1))
    return torch.linalg.svdvals(x), torch.linalg.eigvalsh(gram), torch.linalg.qr(gram)[1]


def overwritten(x: torch.Tensor) -> torch.Tensor:
    kept = x.clone()
    kept[kept < 0] = 0.0
    kept[:, ::2] = kept[:, 1::2]
    return kept


def placed_once(x: torch.Tensor) -> torch.Tensor:
    order = torch.arange(len(x) - 1, -1, -1)
    scattered = torch.zeros_like(x).scatter_add(0, order[:, None].expand_as(x), x)
    return scattered.index_copy(0, order, x) + x[order] + torch.zeros_like(x).index_add(0, order.unique(), x)


def counted(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    bins = torch.arange(x.numel()) % 7
    totals = torch.zeros(7, dtype=torch.int64).scatter_add(0, bins, torch.ones_like(bins))
    return x, totals, torch.bincount(bins), torch.histc(x.detach(), 5), bins.new_zeros(7).index_add(0, bins, bins)


def ordered(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return x.sort(-1).values, x.topk(3, -1).values, x.max(-1).values, x.kthvalue(2, -1).values, x.median(-1).values


def cumulated(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return x.cumsum(0), x.cumprod(1), x.logcumsumexp(0), x.logsumexp(1), x.prod(1), x.cummax(1).values


def distances(x: torch.Tensor) -> torch.Tensor:
    small = x[:64]
    return torch.cdist(small, small + 1) + functional.pairwise_distance(small, small + 2)


def spectrogram(x: torch.Tensor) -> torch.Tensor:
    window = torch.hann_window(16)
    spectrum = torch.stft(x.flatten()[:4096], 16, window=window, return_complex=True)
    return spectrum.abs() + torch.istft(spectrum, 16, window=window).sum()


def contracted(x: torch.Tensor) -> torch.Tensor:
    parts = x.unflatten(1, (4, 4))
    return torch.einsum("bij,bkj,bkl->bil", parts, parts, parts) + torch.tensordot(parts, torch.ones(4, 4), 1)


def reduced(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    groups = (torch.arange(len(x)) % 4)[:, None].expand_as(x)
    start = x.new_zeros(4, x.shape[1])
    return start.scatter_reduce(0, groups, x, "amax"), start.scatter_reduce(0, groups, x, "mean")


def segmented(x: torch.Tensor) -> torch.Tensor:
    return torch.segment_reduce(x, "sum", lengths=torch.full((len(x) // 2,), 2))


def half(x: torch.Tensor) -> torch.Tensor:
    with torch.autocast("cpu", torch.bfloat16):
        return x @ x.T[:, :16]


FUNCTIONS: dict[str, Function] = {
    "contrastive loss": contrast,
    "Dice loss": dice,
    "focal loss": focal,
    "CTC loss": alignment,
    "margin losses": triplet,
    "regression losses": regressions,
    "likelihoods": likelihoods,
    "solvers": solved,
    "decompositions": decomposed,
    "boolean assignment": overwritten,
    "distinct indices": placed_once,
    "whole numbers": counted,
    "sorting": ordered,
    "cumulation": cumulated,
    "distances": distances,
    "spectrogram": spectrogram,
    "contraction": contracted,
    "scatter and reduce": reduced,
    "segments": segmented,
    "mixed precision": half,
    "straight through": Clipped.apply,
}

MODULES: Table = {
    **{name: (after(function), lambda: (floats(8, 16),)) for name, function in FUNCTIONS.items()},
    "gradient penalty": (GradientPenalty, lambda: (floats(8, 16),)),
    "vmap of a gradient": (Functional, lambda: (floats(8, 16),)),
    "sum over edges": (Edges, lambda: (floats(64, 16), indices(64, 2, 300))),
    "sparse product": (Adjacency, lambda: (floats(8, 16),)),
    "spectral filter": (Spectrum, lambda: (floats(8, 16),)),
    "complex layer": (ComplexLinear, lambda: (floats(8, 16),)),
    "hypernetwork": (HyperNetwork, lambda: (floats(8, 16),)),
    "flow": (Flow, lambda: (floats(8, 16),)),
}
