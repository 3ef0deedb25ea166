"""Two-view consistency training (a small SimSiam) with jitter drawn in the dataset."""
import argparse
import os

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset


class TwoViews(Dataset):
    def __init__(self, n=40, size=20):
        t = torch.linspace(0, 1, size)
        self.signals = torch.stack([torch.sin(2 * torch.pi * (1 + i % 5) * t + i) for i in range(n)])

    def __len__(self):
        return len(self.signals)

    def __getitem__(self, i):
        signal = self.signals[i]
        noise = torch.randn(2, len(signal))
        first, second = signal + 0.1 * noise
        return first, second


class SimSiam(nn.Module):
    def __init__(self, size=20, dim=12):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(size, dim), nn.ReLU(), nn.Linear(dim, dim))
        self.predictor = nn.Linear(dim, dim)

    def forward(self, a, b):
        za, zb = self.encoder(a), self.encoder(b)
        pa, pb = self.predictor(za), self.predictor(zb)
        return -0.5 * (F.cosine_similarity(pa, zb.detach()) + F.cosine_similarity(pb, za.detach())).mean()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=10)
    parser.add_argument("--workers", type=int, default=min(2, os.cpu_count() or 1))
    args = parser.parse_args()

    torch.manual_seed(63)
    loader = DataLoader(TwoViews(), batch_size=args.batch_size, shuffle=True, num_workers=args.workers)
    model = SimSiam()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(args.epochs):
        for first, second in loader:
            loss = model(first, second)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: {loss.item():+.4f}")


if __name__ == "__main__":
    main()
