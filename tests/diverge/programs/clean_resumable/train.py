"""Trains in two halves, as on a cluster with short queues: the second resumes where the first stopped."""
import argparse
import tempfile
from pathlib import Path

import checkpoint
import torch
from torch import nn


def build():
    model = nn.Sequential(nn.Linear(5, 20), nn.ReLU(), nn.Dropout(0.2), nn.Linear(20, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    return model, optimizer, torch.optim.lr_scheduler.StepLR(optimizer, 5, gamma=0.7)


def half(path, x, y, steps):
    model, optimizer, scheduler = build()
    first = checkpoint.load(path, model, optimizer, scheduler) if path.exists() else 0
    for step in range(first, first + steps):
        loss = nn.functional.huber_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
    checkpoint.save(path, model, optimizer, scheduler, step + 1)
    print(f"step {step}: {loss.item():.4f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--seed", type=int, default=87)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    x = torch.randn(50, 5)
    y = x.prod(dim=1, keepdim=True)
    path = Path(tempfile.mkdtemp()) / "state.pt"
    half(path, x, y, args.steps // 2)
    half(path, x, y, args.steps - args.steps // 2)


if __name__ == "__main__":
    main()
