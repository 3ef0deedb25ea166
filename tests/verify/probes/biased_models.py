"""Modules with a bias before a norm, and what `algebra` is to say of each."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - as everyone spells it
from torch.utils.checkpoint import checkpoint

IMAGE = (4, 3, 9, 9)
ROWS = (6, 8)
LINE = (4, 3, 17)


class ConvNorm(nn.Module):
    shape: tuple[int, ...] = IMAGE
    conv: Any
    norm: Any

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 6, 3)  # flagged
        self.norm = nn.BatchNorm2d(6)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.relu(self.norm(self.conv(x)))


class LinearNorm(ConvNorm):
    shape = ROWS

    def __init__(self) -> None:
        nn.Module.__init__(self)
        self.conv = nn.Linear(8, 6)  # flagged
        self.norm = nn.BatchNorm1d(6)


class TransposedNorm(ConvNorm):
    def __init__(self) -> None:
        nn.Module.__init__(self)
        self.conv = nn.ConvTranspose2d(3, 6, 3, stride=2)  # flagged
        self.norm = nn.BatchNorm2d(6)


class LineNorm(ConvNorm):
    shape = LINE

    def __init__(self) -> None:
        nn.Module.__init__(self)
        self.conv = nn.Conv1d(3, 6, 3, padding=1)  # flagged
        self.norm = nn.BatchNorm1d(6)


class VolumeNorm(ConvNorm):
    shape = (2, 3, 5, 5, 5)

    def __init__(self) -> None:
        nn.Module.__init__(self)
        self.conv = nn.Conv3d(3, 6, 3)  # flagged
        self.norm = nn.BatchNorm3d(6)


class Depthwise(ConvNorm):
    def __init__(self) -> None:
        nn.Module.__init__(self)
        self.conv = nn.Conv2d(3, 6, 3, groups=3)  # flagged
        self.norm = nn.BatchNorm2d(6)


class SpectralNorm(ConvNorm):
    def __init__(self) -> None:
        nn.Module.__init__(self)
        self.conv = nn.utils.parametrizations.spectral_norm(nn.Conv2d(3, 6, 3))  # flagged
        self.norm = nn.BatchNorm2d(6)


class Stack(nn.Module):
    """Deep, residual, and with two seeds that drop branches."""

    shape = (4, 6, 9, 9)

    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList()
        for _ in range(4):
            self.blocks.append(nn.Sequential(nn.Conv2d(6, 6, 3, padding=1), nn.BatchNorm2d(6), nn.ReLU()))  # flagged

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            keep = torch.rand(x.shape[0], 1, 1, 1) < 0.5
            x = x + block(x) * keep
        return x


class Checked(ConvNorm):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = checkpoint(lambda y: self.norm(self.conv(y)), x, use_reentrant=False)
        assert isinstance(out, torch.Tensor)
        return out


class Residual(ConvNorm):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.conv(x)
        return F.relu(self.norm(y + y.detach().roll(1, 0)))


class InFloat32(ConvNorm):
    """Its code insists on a precision."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.relu(self.norm(self.conv(x.float()))) * torch.ones(1, dtype=torch.float32)


class Wide(nn.Module):
    """Outputs of every kind beside the one that matters."""

    shape = IMAGE

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 6, 3)  # flagged
        self.norm = nn.BatchNorm2d(6)

    def forward(self, x: torch.Tensor) -> dict[str, Any]:
        y = self.norm(self.conv(x))
        return {"y": y, "top": y.argmax(1), "mask": y > 100, "spectrum": torch.fft.rfft(y), "none": None}


class InstanceNormed(ConvNorm):
    """No effect either, and torch computes it as a BatchNorm."""

    def __init__(self) -> None:
        nn.Module.__init__(self)
        self.conv = nn.Conv2d(3, 6, 3)  # flagged
        self.norm = nn.InstanceNorm2d(6)


class DropNothing(ConvNorm):
    """Dropout of nothing between: no effect as long as it drops nothing."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(F.dropout(self.conv(x), 0.0, self.training))


class FunctionalNorm(ConvNorm):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.batch_norm(self.conv(x), None, None, training=True)


class PairOfRows(LinearNorm):
    """Two rows: the norm makes plus and minus one of them."""

    shape = (2, 8)


class WithInputGrad(ConvNorm):
    """Works on its input in place, as a part of a larger model may."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(x.mul(2).relu_())


class Shared(ConvNorm):
    """One layer, used twice, and a norm behind each use."""

    def __init__(self) -> None:
        nn.Module.__init__(self)
        self.conv = nn.Conv2d(3, 3, 3)  # flagged
        self.norm = nn.BatchNorm2d(3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(self.conv(self.norm(self.conv(x))))


# -- the bias matters --------------------------------------------------------------------------------


class ReluBetween(ConvNorm):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(F.relu(self.conv(x)))


class DropoutBetween(ConvNorm):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(F.dropout(self.conv(x), 0.3, self.training))


class PaddingBetween(ConvNorm):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(F.pad(self.conv(x), (1, 1, 1, 1)))


class Frozen(ConvNorm):
    def train(self, mode: bool = True) -> Frozen:  # noqa: FBT001, FBT002 - as torch spells it
        super().train(mode)
        self.norm.eval()
        return self


class UsedElsewhere(ConvNorm):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(self.conv(x)) + self.conv.bias[:, None, None]


class TwoReaders(ConvNorm):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.conv(x)
        return self.norm(y) + y


class NormUnused(ConvNorm):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.relu(self.conv(x))


class Tied(ConvNorm):
    """The same bias in a layer that no norm follows."""

    def __init__(self) -> None:
        nn.Module.__init__(self)
        self.conv = nn.Conv2d(3, 6, 3)  # flagged
        self.norm = nn.BatchNorm2d(6)
        self.head = nn.Conv2d(6, 6, 1)
        self.head.bias = self.conv.bias

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(F.relu(self.norm(self.conv(x))))


class GroupNormed(ConvNorm):
    def __init__(self) -> None:
        nn.Module.__init__(self)
        self.conv = nn.Conv2d(3, 6, 3)  # flagged
        self.norm = nn.GroupNorm(2, 6)


class LayerNormed(ConvNorm):
    shape = ROWS

    def __init__(self) -> None:
        nn.Module.__init__(self)
        self.conv = nn.Linear(8, 6)  # flagged
        self.norm = nn.LayerNorm(6)


class SmallResidual(ConvNorm):
    """A branch with a tiny scale, as layer scale begins."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.mean() + 1e-4 * self.norm(F.relu(self.conv(x)))


class ReluInFloat32(ConvNorm):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(F.relu(self.conv(x.float()))) * torch.ones(1, dtype=torch.float32)


class PaddedPooling(ConvNorm):
    """Zeros are counted at the edge."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(F.avg_pool2d(self.conv(x), 3, 1, 1))


class Penalised(ConvNorm):
    def forward(self, x: torch.Tensor) -> Any:  # noqa: ANN401 - another kind of result than its base
        return self.norm(self.conv(x)), sum((p.square().sum() for p in self.parameters()), torch.zeros(()))


# -- it cannot be told -------------------------------------------------------------------------------


class ClosedGate(ConvNorm):
    """Nothing of the branch is seen while the last scale is zero; a ReLU between hides as well."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.mean() + 0.0 * self.norm(F.relu(self.conv(x)))


class Unreached(ConvNorm):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(x.repeat(1, 2, 1, 1))


class FrozenByConstructor(ConvNorm):
    def __init__(self) -> None:
        super().__init__()
        self.norm.eval()


class TinySignal(ConvNorm):
    """No effect, but the signal is so small beside the bias that its rounding shows."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(self.conv(x * 1e-12))


class ReluThatIsOpen(ConvNorm):
    """All that reaches the ReLU is positive: only a far smaller bias would show."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(F.relu(self.conv(x) + 50))


class Masked(ConvNorm):
    """With a mask of ones, as invented inputs may be, the bias cancels; with another it would not."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(self.conv(x) * (x[:, :1, 1:-1, 1:-1] > -1e9))


class Broken(ConvNorm):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(self.conv(x)) / (x[:, :1, 1:-1, 1:-1] - x[:, :1, 1:-1, 1:-1])


class Unrepeatable(ConvNorm):
    """It draws from a source that no seed reaches."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        entropy = torch.Generator()
        entropy.seed()
        return self.norm(self.conv(x)) + torch.rand(1, generator=entropy)


class InBfloat16(ConvNorm):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.conv2d(x.bfloat16(), self.conv.weight.bfloat16(), self.conv.bias.bfloat16())
        return self.norm(y.to(x.dtype))


class Statistics(ConvNorm):
    """Keeps the mean of what the layer gives: another way out."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros(6))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.conv(x)
        self.seen = y.detach().mean((0, 2, 3))
        return self.norm(y)


class TwoOnOneLine(nn.Module):
    """The first bias of the line matters, the second does not."""

    shape = IMAGE

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 6, 1), nn.ReLU(), nn.Conv2d(6, 6, 1), nn.BatchNorm2d(6))  # flagged

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.body(x)


class Reentrant(ConvNorm):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = checkpoint(lambda y: self.norm(self.conv(y)), x.clone().requires_grad_(), use_reentrant=True)
        assert isinstance(out, torch.Tensor)
        return out


CONFIRMED = (
    *(ConvNorm, LinearNorm, TransposedNorm, LineNorm, VolumeNorm, Depthwise, SpectralNorm, Stack, Checked),
    *(Residual, InFloat32, Wide, FunctionalNorm, InstanceNormed, DropNothing, PairOfRows, WithInputGrad, Shared),
)
REFUTED = (
    *(ReluBetween, DropoutBetween, PaddingBetween, Frozen, UsedElsewhere, TwoReaders, NormUnused, Tied, GroupNormed),
    *(LayerNormed, SmallResidual, ReluInFloat32, Penalised, PaddedPooling),
)
UNDECIDED = (
    *(ClosedGate, Unreached, FrozenByConstructor, Masked, Broken, Unrepeatable, InBfloat16, Statistics),
    *(TwoOnOneLine, Reentrant, TinySignal, ReluThatIsOpen),
)
EVERY = (*CONFIRMED, *REFUTED, *UNDECIDED)
