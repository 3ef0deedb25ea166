"""Pretrain, then fine-tune from the newest checkpoint."""
import argparse
import tempfile
from pathlib import Path

import torch
from torch import nn


def make_model():
    return nn.Sequential(nn.Linear(6, 20), nn.ReLU(), nn.Linear(20, 2))


def make_task(seed, n=80):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 6, generator=g)
    w = torch.randn(6, generator=g)
    return x, (x @ w > 0).long()


def fit(model, x, y, epochs, lr, on_epoch=None):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    for epoch in range(epochs):
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if on_epoch is not None:
            on_epoch(epoch, model)
    return loss.item()


def newest_checkpoint(folder):
    checkpoints = list(folder.glob("epoch_*.pt"))
    return checkpoints[-1] if checkpoints else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pretrain-epochs", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=4)
    args = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="checkpoints-"))

    torch.manual_seed(55)
    x, y = make_task(1)
    loss = fit(
        make_model(), x, y, args.pretrain_epochs, 1e-2,
        lambda epoch, model: torch.save(model.state_dict(), folder / f"epoch_{epoch}.pt"),
    )
    print(f"pretrained: loss {loss:.4f}")

    model = make_model()
    checkpoint = newest_checkpoint(folder)
    model.load_state_dict(torch.load(checkpoint, weights_only=True))
    x, y = make_task(2)
    print(f"fine-tuned from {checkpoint.name}: loss {fit(model, x, y, args.epochs, 5e-3):.4f}")


if __name__ == "__main__":
    main()
