"""VAE that writes its log to a file of its own for each process."""
import csv
import os
import tempfile
from pathlib import Path

import torch
from torch import nn


class VAE(nn.Module):
    def __init__(self, inp=20, latent=2):
        super().__init__()
        self.encode = nn.Linear(inp, 2 * latent)
        self.decode = nn.Sequential(nn.Linear(latent, 16), nn.Tanh(), nn.Linear(16, inp))

    def forward(self, x):
        mu, logvar = self.encode(x).chunk(2, dim=1)
        z = mu + (0.5 * logvar).exp() * torch.randn_like(mu)
        return self.decode(z), mu, logvar


def main(steps=20, seed=66):
    torch.manual_seed(seed)
    t = torch.linspace(0, 1, 20)
    x = torch.stack([torch.exp(-((t - c) ** 2) / 0.02) for c in torch.linspace(0.1, 0.9, 40)])
    path = Path(tempfile.mkdtemp()) / f"train-{os.getpid()}.csv"
    model = VAE()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["pid", "step", "loss"])
        for step in range(steps):
            decoded, mu, logvar = model(x)
            kl = -0.5 * (1 + logvar - mu**2 - logvar.exp()).mean()
            loss = nn.functional.mse_loss(decoded, x) + 0.01 * kl
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            writer.writerow([os.getpid(), step, loss.item()])
    print(f"{path.name}: final loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
