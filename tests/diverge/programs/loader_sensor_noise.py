"""Denoising of sensor traces; the noise is added on the fly by the loader's workers."""
import argparse
import random

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Traces(Dataset):
    def __init__(self, count=48, length=32, noise=0.2):
        phase = np.linspace(0, 2 * np.pi, count, endpoint=False)
        t = np.linspace(0, 4 * np.pi, length)
        self.clean = np.sin(t[None, :] + phase[:, None]).astype(np.float32)
        self.noise = noise
        self.rng = np.random.default_rng()

    def __len__(self):
        return len(self.clean)

    def __getitem__(self, i):
        clean = self.clean[i]
        noisy = clean + self.noise * self.rng.standard_normal(len(clean), dtype=np.float32)
        return torch.from_numpy(noisy), torch.from_numpy(clean)


def seed_everything(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=2)
    args = parser.parse_args()
    seed_everything(123)

    loader = DataLoader(Traces(), batch_size=12, shuffle=True, num_workers=args.workers, persistent_workers=True)
    model = nn.Sequential(nn.Linear(32, 24), nn.GELU(), nn.Linear(24, 32))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(args.epochs):
        for noisy, clean in loader:
            loss = nn.functional.mse_loss(model(noisy), clean)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: mse {loss.item():.4f}")


if __name__ == "__main__":
    main()
