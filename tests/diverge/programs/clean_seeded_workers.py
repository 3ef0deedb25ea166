"""Random crops in loader workers that are seeded as the documentation says."""
import argparse
import random

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class RandomCrops(Dataset):
    def __init__(self, n=40, size=14, crop=10):
        g = torch.Generator().manual_seed(1)
        self.images = torch.rand(n, 1, size, size, generator=g)
        self.labels = torch.arange(n) % 2
        self.images[self.labels == 1] *= 0.5
        self.room, self.crop = size - crop + 1, crop

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        top, left = random.randrange(self.room), np.random.randint(self.room)
        crop = self.images[i, :, top:top + self.crop, left:left + self.crop]
        return crop + 0.01 * torch.randn(crop.shape), self.labels[i]


def seed_worker(worker_id):
    seed = torch.initial_seed() % 2**32
    np.random.seed(seed)
    random.seed(seed)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=5)
    args = parser.parse_args()
    torch.manual_seed(0)
    g = torch.Generator()
    g.manual_seed(0)
    loader = DataLoader(
        RandomCrops(), batch_size=10, shuffle=True, num_workers=2, persistent_workers=True,
        worker_init_fn=seed_worker, generator=g,
    )
    model = nn.Sequential(nn.Conv2d(1, 4, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(64, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(args.epochs):
        for images, labels in loader:
            loss = nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
