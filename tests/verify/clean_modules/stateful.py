"""Modules with state, draws and hooks of their own: what a run must find as the first run found it."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import collections
import dataclasses
import functools
import random
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn
from torch.nn import functional
from torch.nn.utils import parametrizations, parametrize, spectral_norm
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

from tests.verify.clean_modules.entry import Build, Table
from tests.verify.flagged import floats


def rows() -> tuple[torch.Tensor]:
    return (floats(8, 16),)


class Base(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Linear(16, 16)


class Counter(Base):
    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return self.body(x) / self.calls


class Warmup(Base):
    """The first call sets scale and shift from the data."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(16))
        self.register_buffer("is_initialised", torch.tensor(0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not self.get_buffer("is_initialised"):
            self.scale.data.copy_(1 / x.std(0))
            self.get_buffer("is_initialised").fill_(1)
        return self.body(x) * self.scale


class MovingAverage(Base):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(16))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.body(x)
        self.mean = self.get_buffer("mean") * 0.9 + x.detach().mean(0) * 0.1
        return x - self.mean


class Queue(Base):
    """Keys of earlier batches, overwritten in turn."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("keys", torch.zeros(4096, 16))
        self.place = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = functional.normalize(self.body(x), dim=1)
        scores = x @ self.get_buffer("keys").clone().T
        self.get_buffer("keys")[self.place : self.place + len(x)] = x.detach()
        self.place = (self.place + len(x)) % 4096
        return scores


class History(Base):
    def __init__(self) -> None:
        super().__init__()
        self.before: collections.deque[torch.Tensor] = collections.deque(maxlen=3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.before.append(self.body(x).detach())
        return self.body(x) + torch.stack([*self.before]).mean(0)


class Cache(Base):
    def __init__(self) -> None:
        super().__init__()
        self.masks: dict[int, torch.Tensor] = {}

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if len(x) not in self.masks:
            self.masks[len(x)] = torch.rand(len(x), 1)
        return self.body(x) * self.masks[len(x)]


class Memoised(Base):
    @functools.lru_cache(maxsize=8)  # noqa: B019 - people write it
    def positions(self, length: int) -> torch.Tensor:
        return torch.arange(length, dtype=torch.float32)[:, None].sin()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.body(x) + self.positions(len(x))


class NumpyDraws(Base):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        noise = torch.from_numpy(np.random.normal(size=x.shape)).float()  # noqa: NPY002 - people write it
        return self.body(x + noise)


class PythonDraws(Base):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.body(x) * random.uniform(0.5, 1.5)  # noqa: S311


class ShuffledLayers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(16, 16) for _ in range(4)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        order = [*self.layers]
        random.shuffle(order)
        for layer in order:
            x = layer(x).tanh()
        return x


class StochasticDepth(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(16, 16) for _ in range(4)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            if torch.rand(()) > 0.3:
                x = x + layer(x)
        return x


class OwnNumpyGenerator(Base):
    def __init__(self) -> None:
        super().__init__()
        self.draws = np.random.default_rng(0)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.body(x) * torch.from_numpy(self.draws.random(16)).float()


class OwnTorchGenerator(Base):
    def __init__(self) -> None:
        super().__init__()
        self.draws = torch.Generator().manual_seed(0)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.body(x) * torch.rand(16, generator=self.draws)


class Variational(Base):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        mean, spread = self.body(x).chunk(2, -1)
        drawn = torch.distributions.Normal(mean, spread.exp()).rsample()
        return drawn, (mean**2 + spread.exp() - 1 - spread).sum()


class Gumbel(Base):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return functional.gumbel_softmax(self.body(x), hard=True)


class Masked(Base):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        kept = torch.bernoulli(torch.full_like(x, 0.8))
        return self.body(x * kept) * torch.randperm(16)


class Mixup(Base):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        share = float(np.random.beta(0.4, 0.4))  # noqa: NPY002 - people write it
        return self.body(share * x + (1 - share) * x[torch.randperm(len(x))])


class Checkpointed(nn.Module):
    def __init__(self, *, is_reentrant: bool) -> None:
        super().__init__()
        self.is_reentrant = is_reentrant
        self.stem = nn.Linear(16, 16)
        self.body = nn.Sequential(nn.Linear(16, 16), nn.Dropout(), nn.Tanh())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return checkpoint(self.body, self.stem(x), use_reentrant=self.is_reentrant)


class CheckpointedInParts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(*(nn.Linear(16, 16) for _ in range(4)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return checkpoint_sequential(self.body, 2, x, use_reentrant=False)


class InPlace(Base):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.body(x)
        x += 1
        x.mul_(2).clamp_(-3, 3)
        x[:, 0] = 0
        return functional.relu_(x)


class WritesItsInput(Base):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x.mul_(0.5).add_(0.1)
        return self.body(x)


class Hooked(Base):
    """Hooks count, collect and scale."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[torch.Tensor] = []
        self.body.register_forward_hook(self.collect)
        self.body.weight.register_hook(lambda gradient: gradient * 0.5)

    def collect(self, _module: nn.Module, _inputs: Any, output: torch.Tensor) -> torch.Tensor:  # noqa: ANN401
        self.seen.append(output.detach())
        return output * len(self.seen)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.body(x)


def _halved(_module: nn.Module, inputs: Any, _outputs: Any) -> tuple[torch.Tensor | None, ...]:  # noqa: ANN401
    return tuple(None if gradient is None else gradient / 2 for gradient in inputs)


class BackwardHooked(Base):
    def __init__(self) -> None:
        super().__init__()
        self.body.register_full_backward_hook(_halved)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.body(x.exp()).square()


class Symmetric(nn.Module):
    def forward(self, weight: torch.Tensor) -> torch.Tensor:
        return weight.triu() + weight.triu(1).T


class Parametrized(Base):
    def __init__(self) -> None:
        super().__init__()
        parametrize.register_parametrization(self.body, "weight", Symmetric())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with parametrize.cached():
            return self.body(self.body(x))


@dataclasses.dataclass
class Prediction:
    logits: torch.Tensor
    hidden: dict[str, torch.Tensor]
    loss: torch.Tensor | None = None


class ReturnsDataclass(Base):
    def forward(self, x: torch.Tensor) -> Prediction:
        hidden = self.body(x)
        return Prediction(hidden.softmax(-1), {"hidden": hidden}, hidden.square().mean())


class Pair(NamedTuple):
    mean: torch.Tensor
    spread: torch.Tensor


class ReturnsNamedTuple(Base):
    def forward(self, x: torch.Tensor) -> Pair:
        return Pair(*self.body(x).chunk(2, -1))


class ReturnsDict(Base):
    def forward(self, x: torch.Tensor) -> dict[str, Any]:
        return {"out": self.body(x), "aux": [x.mean(), {"norm": x.norm()}], "name": "aux"}


class Frozen(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(16, 16), nn.BatchNorm1d(16)).eval().requires_grad_(requires_grad=False)
        self.head = nn.Linear(16, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            x = self.trunk(x)
        return self.head(x)


def after_linear(*layers: nn.Module) -> nn.Module:
    return nn.Sequential(nn.Linear(16, 16), *layers)


OF_ROWS: dict[str, Build] = {
    "counter": Counter,
    "warm-up on first call": Warmup,
    "moving average": MovingAverage,
    "queue of keys": Queue,
    "history": History,
    "cache of draws": Cache,
    "memoised method": Memoised,
    "draws of NumPy": NumpyDraws,
    "draws of Python": PythonDraws,
    "shuffled layers": ShuffledLayers,
    "stochastic depth": StochasticDepth,
    "its own NumPy generator": OwnNumpyGenerator,
    "its own torch generator": OwnTorchGenerator,
    "variational": Variational,
    "Gumbel": Gumbel,
    "masked and permuted": Masked,
    "mixup": Mixup,
    "checkpoint": lambda: Checkpointed(is_reentrant=False),
    "reentrant checkpoint": lambda: Checkpointed(is_reentrant=True),
    "checkpoint in parts": CheckpointedInParts,
    "in place": InPlace,
    "writes its input": WritesItsInput,
    "hooks": Hooked,
    "backward hook": BackwardHooked,
    "parametrization": Parametrized,
    "data class": ReturnsDataclass,
    "named tuple": ReturnsNamedTuple,
    "dictionary": ReturnsDict,
    "frozen trunk": Frozen,
    "multi-layer perceptron": lambda: after_linear(nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 4)),
    "BatchNorm with momentum None": lambda: after_linear(nn.BatchNorm1d(16, momentum=None)),
    "alpha dropout": lambda: after_linear(nn.SELU(), nn.AlphaDropout(0.2)),
    "random leaky ReLU": lambda: after_linear(nn.RReLU()),
    "spectral norm": lambda: nn.Sequential(parametrizations.spectral_norm(nn.Linear(16, 8)), nn.ReLU()),
    "spectral norm, the old way": lambda: nn.Sequential(spectral_norm(nn.Linear(16, 8)), nn.ReLU()),
    "weight norm": lambda: parametrizations.weight_norm(nn.Linear(16, 8)),
    "orthogonal weights": lambda: parametrizations.orthogonal(nn.Linear(16, 16)),
}

MODULES: Table = {name: (build, rows) for name, build in OF_ROWS.items()}
