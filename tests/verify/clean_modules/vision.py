"""Images: convolutions, poolings, paddings, norms, resampling."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional

from tests.verify.clean_modules.entry import Inputs, Table
from tests.verify.flagged import floats


def image(channels: int = 3, size: int = 16, rank: int = 2) -> Inputs:
    return lambda: (floats(2, channels, *([size] * rank)),)


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, padding=1)
        self.body = nn.Sequential(
            nn.Conv2d(8, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU(inplace=True), nn.Conv2d(8, 8, 1)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.stem(x)
        return functional.relu(x + self.body(x))


class UNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Conv2d(3, 8, 3, padding=1)
        self.middle = nn.Sequential(nn.MaxPool2d(2), nn.Conv2d(8, 8, 3, padding=1), nn.ReLU())
        self.up = nn.Conv2d(16, 4, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        shallow = self.down(x)
        deep = functional.interpolate(self.middle(shallow), scale_factor=2, mode="bilinear")
        return self.up(torch.cat([shallow, deep], 1))


class Resized(nn.Module):
    def __init__(self, mode: str, rank: int) -> None:
        super().__init__()
        self.mode = mode
        self.body = (nn.Conv1d, nn.Conv2d, nn.Conv3d)[rank - 1](3, 4, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return functional.interpolate(self.body(x), scale_factor=2.0, mode=self.mode)


class SqueezeExcite(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3)
        self.gate = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(8, 2, 1), nn.SiLU(), nn.Conv2d(2, 8, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.stem(x)
        return x * self.gate(x).sigmoid()


class Inception(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.branches = nn.ModuleList([nn.Conv2d(3, 4, size, padding=size // 2) for size in (1, 3, 5)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([branch(x) for branch in self.branches], 1)


class Dense(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleDict({f"layer{n}": nn.Conv2d(3 + 4 * n, 4, 3, padding=1) for n in range(3)})

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers.values():
            x = torch.cat([x, functional.elu(layer(x))], 1)
        return x


class Unpooled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 4, 3, padding=1)
        self.pool = nn.MaxPool2d(2, return_indices=True)
        self.unpool = nn.MaxUnpool2d(2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        pooled, places = self.pool(self.stem(x))
        return self.unpool(pooled, places)


class SpatialTransformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 4, 3, padding=1)
        self.angles = nn.Linear(3, 6)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        theta = self.angles(x.mean((2, 3))).view(-1, 2, 3)
        grid = functional.affine_grid(theta, [*x.shape], align_corners=False)
        return functional.grid_sample(self.stem(x), grid, align_corners=False)


class Patches(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Linear(27, 27)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        columns = functional.unfold(x, 3, padding=1).transpose(1, 2)
        return functional.fold(self.mix(columns).transpose(1, 2), (16, 16), 3, padding=1)


class ChannelShuffle(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Conv2d(4, 8, 3, groups=4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = self.body(x)
        size = rows.shape
        return rows.view(size[0], 4, 2, *size[2:]).transpose(1, 2).reshape(size)


class ChannelsLast(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(8)
        self.body = nn.Conv2d(3, 8, 3).to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.body(x.contiguous(memory_format=torch.channels_last))
        return self.norm(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class Pyramid(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Conv2d(3, 4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.body(x)
        return torch.cat([functional.adaptive_avg_pool2d(x, size).flatten(1) for size in (1, 3, 5)], 1)


def after_conv(*layers: nn.Module, channels: int = 8) -> Callable[[], nn.Module]:
    return lambda: nn.Sequential(nn.Conv2d(3, channels, 3, padding=1), *layers)


MODULES: Table = {
    "LeNet": (
        lambda: nn.Sequential(
            nn.Conv2d(3, 6, 5), nn.Tanh(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(216, 10), nn.LogSoftmax(1)
        ),
        image(),
    ),
    "residual block": (Residual, image()),
    "U-Net": (UNet, image()),
    "nearest upsampling": (lambda: Resized("nearest", 2), image()),
    "bicubic upsampling": (lambda: Resized("bicubic", 2), image()),
    "linear upsampling": (lambda: Resized("linear", 1), image(rank=1)),
    "trilinear upsampling": (lambda: Resized("trilinear", 3), image(size=6, rank=3)),
    "depthwise separable": (after_conv(nn.Conv2d(8, 8, 3, groups=8), nn.BatchNorm2d(8), nn.Hardswish()), image()),
    "squeeze and excite": (SqueezeExcite, image()),
    "inception": (Inception, image()),
    "dense block": (Dense, image()),
    "dilated": (after_conv(nn.Conv2d(8, 4, 3, dilation=2), nn.LeakyReLU()), image()),
    "transposed decoder": (after_conv(nn.ConvTranspose2d(8, 3, 4, stride=2), nn.Sigmoid()), image()),
    "pixel shuffle": (after_conv(nn.PixelShuffle(2)), image()),
    "adaptive average pooling": (after_conv(nn.AdaptiveAvgPool2d((5, 7))), image()),
    "adaptive maximum pooling": (after_conv(nn.AdaptiveMaxPool2d(5)), image()),
    "overlapping maximum pooling": (after_conv(nn.MaxPool2d(3, stride=1)), image()),
    "fractional pooling": (after_conv(nn.FractionalMaxPool2d(2, output_ratio=0.7)), image()),
    "LP pooling": (after_conv(nn.ReLU(), nn.LPPool2d(3, 2)), image()),
    "unpooling": (Unpooled, image()),
    "reflection padding": (after_conv(nn.ReflectionPad2d(2), nn.Conv2d(8, 4, 3)), image()),
    "replication padding": (after_conv(nn.ReplicationPad2d(2), nn.Conv2d(8, 4, 3)), image()),
    "circular padding": (lambda: nn.Conv2d(3, 4, 3, padding=1, padding_mode="circular"), image()),
    "group norm": (after_conv(nn.GroupNorm(2, 8), nn.GELU()), image()),
    "instance norm": (after_conv(nn.InstanceNorm2d(8, affine=True, track_running_stats=True)), image()),
    "local response norm": (after_conv(nn.LocalResponseNorm(3)), image()),
    "channels last": (ChannelsLast, image()),
    "three dimensions": (
        lambda: nn.Sequential(nn.Conv3d(3, 4, 3), nn.BatchNorm3d(4), nn.MaxPool3d(2)),
        image(size=8, rank=3),
    ),
    "spatial transformer": (SpatialTransformer, image()),
    "patches folded back": (Patches, image()),
    "spatial dropout": (after_conv(nn.Dropout2d(0.3), nn.Conv2d(8, 4, 3)), image()),
    "channel shuffle": (ChannelShuffle, image(channels=4)),
    "pooling pyramid": (Pyramid, image()),
}
