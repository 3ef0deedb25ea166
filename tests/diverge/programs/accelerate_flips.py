"""Arrows that point up or down, with random flips, trained through Accelerate."""
import argparse
import random

import numpy as np
import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Arrows(Dataset):
    def __init__(self, n=48, train=True):
        rng = np.random.default_rng(4)
        self.images = rng.normal(0.0, 0.2, (n, 8, 8)).astype(np.float32)
        self.labels = np.arange(n) % 2
        self.images[self.labels == 0, 1, 2:6] += 1.0
        self.images[self.labels == 1, 6, 2:6] += 1.0
        self.images[:, 1:7, 3] += 0.5
        self.train = train

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        image = self.images[i]
        if self.train and random.random() < 0.5:
            image = image[:, ::-1]
        return {"pixels": torch.from_numpy(image.copy()).unsqueeze(0), "label": int(self.labels[i])}


def build_model():
    return nn.Sequential(
        nn.Conv2d(1, 6, 3),
        nn.ReLU(),
        nn.Conv2d(6, 6, 3),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(6 * 16, 2),
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--lr", type=float, default=5e-3)
    args = parser.parse_args()

    torch.manual_seed(8)
    accelerator = Accelerator(cpu=True)
    model = build_model()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    loader = DataLoader(Arrows(), batch_size=12, shuffle=True)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for epoch in range(args.epochs):
        for batch in loader:
            loss = nn.functional.cross_entropy(model(batch["pixels"]), batch["label"])
            optimizer.zero_grad()
            accelerator.backward(loss)
            optimizer.step()
        accelerator.print(f"epoch {epoch}: {loss.item():.4f}")


if __name__ == "__main__":
    main()
