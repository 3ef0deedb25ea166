"""Fits a classifier and keeps its last weights in `last.pt`."""
import argparse
from pathlib import Path

import torch
from torch import nn


class Spiral:
    def __init__(self, n=90, turns=1.2):
        t = torch.linspace(0.1, 1, n // 3)
        arms = []
        for arm in range(3):
            angle = 2 * torch.pi * (turns * t + arm / 3)
            arms.append(torch.stack([t * angle.cos(), t * angle.sin()], dim=1))
        self.x = torch.cat(arms)
        self.y = torch.arange(3).repeat_interleave(n // 3)

    def batches(self, size):
        for rows in torch.randperm(len(self.x)).split(size):
            yield self.x[rows], self.y[rows]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--checkpoint", type=Path, default=Path("last.pt"))
    args = parser.parse_args()

    torch.manual_seed(33)
    model = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 3))
    if args.checkpoint.exists():
        model.load_state_dict(torch.load(args.checkpoint, weights_only=True))
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    data = Spiral()
    for epoch in range(args.epochs):
        for x, y in data.batches(30):
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: {loss.item():.4f}")
        torch.save(model.state_dict(), args.checkpoint)


if __name__ == "__main__":
    main()
