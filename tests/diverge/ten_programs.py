"""Ten small programs, trained one after the other: prints a line with the hash of the final parameters of each.

`python ten_programs.py`: what is printed is to be the same with a recorder inside as without.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sized
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - the name that everybody uses
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, Dataset

STEPS = 4
Program = Callable[[], Iterable[Tensor]]


def steps_of(optimizer: torch.optim.Optimizer, loss: Callable[[], Tensor], steps: int = STEPS) -> None:
    for _ in range(steps):
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()


def convolutions() -> Iterable[Tensor]:
    """Batch norm, dropout, replicated borders."""
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1, padding_mode="replicate"),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.Dropout(0.3),
        nn.AdaptiveAvgPool2d(2),
        nn.Flatten(),
        nn.Linear(32, 4),
    )
    images, labels = torch.randn(16, 3, 12, 12), torch.arange(16) % 4
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    steps_of(optimizer, lambda: F.cross_entropy(model(images), labels))
    return [*model.parameters(), *model.buffers()]


def recurrent() -> Iterable[Tensor]:
    """Two layers of LSTM with dropout between them."""
    model, head = nn.LSTM(6, 10, num_layers=2, dropout=0.2, bidirectional=True), nn.Linear(20, 1)
    rows = torch.randn(7, 5, 6)
    parameters = [*model.parameters(), *head.parameters()]
    steps_of(torch.optim.RMSprop(parameters, lr=0.01), lambda: head(model(rows)[0]).pow(2).mean())
    return parameters


def attention() -> Iterable[Tensor]:
    """A transformer in bfloat16 autocast."""
    layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
    model = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    rows = torch.randn(4, 9, 16)

    def loss() -> Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            result: Tensor = model(rows).float().sin().mean()
            return result

    steps_of(torch.optim.AdamW(model.parameters(), lr=0.01), loss)
    return model.parameters()


def adversaries() -> Iterable[Tensor]:
    """A generator and a critic, each with an optimizer."""
    generator, critic = nn.Linear(4, 6), nn.Sequential(nn.Linear(6, 8), nn.LeakyReLU(), nn.Linear(8, 1))
    first, second = (torch.optim.Adam(each.parameters(), lr=0.02) for each in (generator, critic))
    for _ in range(STEPS):
        made = generator(torch.randn(8, 4))
        second.zero_grad()
        (critic(made.detach()).mean() - critic(torch.randn(8, 6)).mean()).backward()
        second.step()
        first.zero_grad()
        (-critic(made).mean()).backward()
        first.step()
    return [*generator.parameters(), *critic.parameters()]


class Rounded(torch.autograd.Function):
    """Rounds, and lets gradients pass."""

    @staticmethod
    def forward(ctx: Any, value: Tensor) -> Tensor:  # noqa: ANN401 - torch's own signature
        ctx.save_for_backward(value)
        rounded: Tensor = value.round()
        return rounded

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:  # noqa: ANN401 - as above
        (value,) = ctx.saved_tensors
        passed: Tensor = gradients[0] * (value.abs() < 2)
        return passed


def autoencoder() -> Iterable[Tensor]:
    """Noise in the middle, and a function of its own for the backward pass."""
    encoder, decoder = nn.Linear(8, 4), nn.Linear(2, 8)
    rows = torch.randn(16, 8)

    def loss() -> Tensor:
        mean, spread = encoder(rows).chunk(2, dim=1)
        code = Rounded.apply(mean + torch.randn_like(spread) * spread.exp())  # type: ignore[no-untyped-call]
        result: Tensor = F.mse_loss(decoder(code), rows) + mean.pow(2).mean()
        return result

    parameters = [*encoder.parameters(), *decoder.parameters()]
    steps_of(torch.optim.Adam(parameters, lr=0.01), loss)
    return parameters


def graph() -> Iterable[Tensor]:
    """Messages that are added up, embeddings with sparse gradients."""
    nodes, weights = nn.Embedding(20, 6, sparse=True), nn.Linear(6, 6)
    start, end = torch.randint(20, (2, 60))
    sparse, dense = torch.optim.SparseAdam([*nodes.parameters()]), torch.optim.SGD(weights.parameters(), lr=0.1)
    for _ in range(STEPS):
        sparse.zero_grad()
        dense.zero_grad()
        sent = weights(nodes(start))
        torch.zeros(20, 6).index_add(0, end, sent).relu().sum().backward()
        sparse.step()
        dense.step()
    return [*nodes.parameters(), *weights.parameters()]


def by_hand() -> Iterable[Tensor]:
    """In-place writes, views, an update without an optimizer, a mean that moves."""
    weights = torch.randn(6, 6, requires_grad=True)
    mean = torch.zeros(6)
    for _ in range(STEPS):
        rows = torch.empty(5, 6).normal_()
        rows[1:3].mul_(2).t()[0].add_(1)
        loss = (rows @ weights).clamp_(min=0).view(-1)[::2].sum()
        loss.backward()
        assert weights.grad is not None
        with torch.no_grad():
            weights -= 0.1 * weights.grad
            mean.lerp_(rows.mean(0), 0.1)
            weights.grad.zero_()
    return [weights, mean]


class Noisy(Dataset[Tensor], Sized):
    """Rows with noise that workers draw."""

    def __len__(self) -> int:
        return 12

    def __getitem__(self, index: int) -> Tensor:
        return torch.full((5,), float(index)) + torch.randn(5)


def loaded() -> Iterable[Tensor]:
    """Batches of two workers."""
    model = nn.Linear(5, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for batch in DataLoader(Noisy(), batch_size=4, shuffle=True, num_workers=2):
        optimizer.zero_grad()
        model(batch).pow(2).mean().backward()
        optimizer.step()
    return model.parameters()


def closures() -> Iterable[Tensor]:
    """L-BFGS, gradient checkpointing, hooks on modules and tensors."""
    model, head = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Dropout(0.1)), nn.Linear(8, 1)
    model.register_forward_hook(lambda _, given, result: result * 1.5 + given[0].mean())
    rows = torch.randn(10, 4)
    parameters = [*model.parameters(), *head.parameters()]
    optimizer = torch.optim.LBFGS(parameters, max_iter=3)

    def closure() -> Tensor:
        optimizer.zero_grad()
        inner = checkpoint(model, rows, use_reentrant=False)
        inner.register_hook(lambda gradient: gradient * 0.5)
        loss: Tensor = head(inner).pow(2).mean()
        loss.backward()
        return loss

    for _ in range(STEPS):
        optimizer.step(closure)
    return parameters


def second_order() -> Iterable[Tensor]:
    """Gradients of gradients, a graph that is kept, complex numbers, functional transforms."""
    weights = torch.randn(4, 4, requires_grad=True)
    optimizer = torch.optim.Adagrad([weights], lr=0.1)
    for _ in range(STEPS):
        optimizer.zero_grad()
        rows = torch.randn(3, 4)
        spectrum = torch.fft.fft(rows @ weights).abs().sum()
        (gradient,) = torch.autograd.grad(spectrum, weights, create_graph=True)
        scaled = torch.func.vmap(lambda row: (row @ weights).sin().sum())(rows).sum()
        (gradient.pow(2).mean() + scaled).backward(retain_graph=True)
        scaled.backward()
        optimizer.step()
    return [weights]


TEN: tuple[Program, ...] = (
    *(convolutions, recurrent, attention, adversaries, autoencoder),
    *(graph, by_hand, loaded, closures, second_order),
)


def hashed(tensors: Iterable[Tensor]) -> str:
    whole = hashlib.sha256()
    for each in tensors:
        whole.update(each.detach().numpy().tobytes())
    return whole.hexdigest()[:16]


if __name__ == "__main__":
    for program in TEN:
        torch.manual_seed(0)
        print(program.__name__, hashed(program()))
