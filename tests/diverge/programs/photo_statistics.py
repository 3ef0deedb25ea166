"""Regression of exposure from photographs that are normalised by the statistics of the training set."""
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def photographs(n=64, size=32):
    g = torch.Generator().manual_seed(40)
    exposure = torch.linspace(0.2, 1.0, n)
    scenes = torch.rand(n, 3, size, size, generator=g)
    return scenes * exposure.view(n, 1, 1, 1), exposure


class Normalise:
    def fit(self, images):
        count = images.numel()
        self.mean = images.sum() / count
        self.scale = ((images - self.mean).square().sum() / (count - 1)).sqrt()
        return self

    def __call__(self, images):
        return (images - self.mean) / self.scale


def build():
    return nn.Sequential(
        nn.Conv2d(3, 6, 5, stride=4),
        nn.ReLU(),
        nn.AvgPool2d(7),
        nn.Flatten(),
        nn.Linear(6, 1),
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--lr", type=float, default=0.05)
    args = parser.parse_args()

    torch.manual_seed(41)
    images, exposure = photographs()
    normalise = Normalise().fit(images)
    print(f"mean {normalise.mean:.4f}, scale {normalise.scale:.4f}")
    loader = DataLoader(TensorDataset(normalise(images), exposure), batch_size=16, shuffle=True)

    model = build()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        for batch, target in loader:
            loss = nn.functional.l1_loss(model(batch).squeeze(1), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: {loss.item():.4f}")


if __name__ == "__main__":
    main()
