"""Mixup training on coloured patches."""
import argparse

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset


def patches(n=96, classes=3):
    g = torch.Generator().manual_seed(11)
    labels = torch.arange(n) % classes
    images = 0.3 * torch.randn(n, 3, 8, 8, generator=g)
    images[torch.arange(n), labels] += 1.0
    return TensorDataset(images, labels)


def mixup(images, targets, alpha):
    """Returns mixed images and soft targets, see Zhang et al. 2018."""
    lam = float(np.random.beta(alpha, alpha)) if alpha > 0 else 1.0
    other = torch.randperm(len(images))
    mixed = lam * images + (1 - lam) * images[other]
    soft = lam * targets + (1 - lam) * targets[other]
    return mixed, soft


class Net(nn.Module):
    def __init__(self, classes=3):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 12, 3, stride=2, padding=1),
            nn.GroupNorm(3, 12),
            nn.SiLU(),
            nn.AdaptiveAvgPool2d(1),
        )
        self.head = nn.Linear(12, classes)

    def forward(self, x):
        return self.head(self.features(x).flatten(1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--alpha", type=float, default=0.4)
    parser.add_argument("--epochs", type=int, default=3)
    args = parser.parse_args()

    torch.manual_seed(0)
    model = Net()
    loader = DataLoader(patches(), batch_size=32, shuffle=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, nesterov=True, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=args.epochs)
    for epoch in range(args.epochs):
        for images, labels in loader:
            targets = F.one_hot(labels, 3).float()
            images, targets = mixup(images, targets, args.alpha)
            loss = F.cross_entropy(model(images), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        scheduler.step()
        print(f"epoch {epoch} loss {loss.item():.4f} lr {scheduler.get_last_lr()[0]:.4f}")


if __name__ == "__main__":
    main()
