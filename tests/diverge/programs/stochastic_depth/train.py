import argparse
import pathlib
import tempfile

import torch
from blocks import Stage
from torch import nn


class Model(nn.Module):
    def __init__(self, channels=8, depth=6, classes=4):
        super().__init__()
        self.stem = nn.Conv2d(1, channels, 4, stride=4)
        self.stage = Stage(channels, depth)
        self.head = nn.Linear(channels, classes)

    def forward(self, x):
        return self.head(self.stage(self.stem(x)).mean(dim=(2, 3)))


def gratings(n=64, size=16):
    """Gratings in four directions."""
    labels = torch.arange(n) % 4
    angle = labels * torch.pi / 4
    grid = torch.linspace(-3, 3, size)
    y, x = torch.meshgrid(grid, grid, indexing="ij")
    phase = x * angle.cos()[:, None, None] + y * angle.sin()[:, None, None]
    return phase.sin().unsqueeze(1) + 0.1 * torch.randn(n, 1, size, size), labels


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--out", type=pathlib.Path, default=None)
    args = parser.parse_args()
    out = args.out or pathlib.Path(tempfile.mkdtemp())

    torch.manual_seed(314)
    images, labels = gratings()
    model = Model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    warmup = torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, total_iters=3)
    best = float("inf")
    for epoch in range(args.epochs):
        model.train()
        loss = nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        warmup.step()
        if loss.item() < best:
            best = loss.item()
            torch.save(model.state_dict(), out / "best.pt")
        print(f"epoch {epoch}: train loss {loss.item():.4f} (best {best:.4f})")


if __name__ == "__main__":
    main()
