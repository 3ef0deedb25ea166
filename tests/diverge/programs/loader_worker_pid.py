"""Keyword spotting on made-up spectrograms with time masking in the loader's workers."""
import argparse
import os

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Spectrograms(Dataset):
    def __init__(self, n=40, bands=12, frames=20, max_mask=6):
        rng = np.random.RandomState(2)
        self.labels = np.arange(n) % 4
        self.specs = rng.rand(n, bands, frames).astype(np.float32)
        for spec, label in zip(self.specs, self.labels):
            spec[3 * label:3 * label + 3] += 1.0
        self.max_mask = max_mask

    def __len__(self):
        return len(self.specs)

    def __getitem__(self, i):
        spec = self.specs[i].copy()
        width = np.random.randint(1, self.max_mask + 1)
        start = np.random.randint(0, spec.shape[1] - width)
        spec[:, start:start + width] = 0.0
        return spec, self.labels[i]


def init_worker(worker_id):
    # otherwise all workers draw the same numbers
    np.random.seed(os.getpid())


class KeywordNet(nn.Module):
    def __init__(self, bands=12, classes=4):
        super().__init__()
        self.conv = nn.Conv1d(bands, 16, 5, padding=2)
        self.head = nn.Linear(16, classes)

    def forward(self, spec):
        return self.head(torch.relu(self.conv(spec)).amax(dim=2))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=10)
    args = parser.parse_args()

    np.random.seed(0)
    torch.manual_seed(0)
    loader = DataLoader(
        Spectrograms(), batch_size=args.batch_size, shuffle=True, num_workers=2, worker_init_fn=init_worker
    )
    model = KeywordNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(args.epochs):
        for specs, labels in loader:
            loss = nn.functional.cross_entropy(model(specs), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
