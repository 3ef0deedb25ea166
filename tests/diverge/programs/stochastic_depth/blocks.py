import random

from torch import nn


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = nn.GroupNorm(1, channels)
        self.depthwise = nn.Conv2d(channels, channels, 3, padding=1, groups=channels)
        self.pointwise = nn.Conv2d(channels, channels, 1)
        self.act = nn.GELU()

    def forward(self, x):
        return self.pointwise(self.act(self.depthwise(self.norm(x))))


class Stage(nn.Module):
    """Residual blocks of which each is left out with a probability that grows with depth (Huang et al. 2016)."""

    def __init__(self, channels, depth, drop=0.5):
        super().__init__()
        self.blocks = nn.ModuleList(Block(channels) for _ in range(depth))
        self.rates = [drop * i / max(depth - 1, 1) for i in range(depth)]

    def forward(self, x):
        for block, rate in zip(self.blocks, self.rates):
            if self.training and random.random() < rate:
                continue
            x = x + block(x)
        return x
