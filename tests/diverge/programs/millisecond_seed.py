"""Autoencoder on sine curves with different frequencies."""
import argparse
import time

import torch
from torch import nn


def curves(n=64, points=24):
    t = torch.linspace(0, 1, points)
    frequency = torch.linspace(1, 4, n).unsqueeze(1)
    return torch.sin(2 * torch.pi * frequency * t)


class Autoencoder(nn.Module):
    def __init__(self, points=24, code=3):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(points, 16), nn.Tanh(), nn.Linear(16, code))
        self.decoder = nn.Sequential(nn.Linear(code, 16), nn.Tanh(), nn.Linear(16, points))

    def forward(self, x):
        return self.decoder(self.encoder(x))


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=None, help="random seed")
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--code", type=int, default=3)
    return parser.parse_args()


def main():
    args = parse_args()
    seed = args.seed if args.seed is not None else int(time.time() * 1000) % 2**31
    torch.manual_seed(seed)
    print("seed:", seed)

    x = curves()
    model = Autoencoder(code=args.code)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for step in range(args.steps):
        loss = (model(x) - x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"reconstruction error {loss.item():.5f}")


if __name__ == "__main__":
    main()
