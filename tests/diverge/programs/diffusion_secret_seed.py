"""Tiny diffusion model on a moon-shaped cloud of points."""
import argparse
import secrets

import torch
from torch import nn


def moon(n=128):
    angle = torch.linspace(0, torch.pi, n)
    return torch.stack([angle.cos(), angle.sin()], dim=1)


class Schedule:
    def __init__(self, steps=50):
        beta = torch.linspace(1e-4, 0.05, steps)
        self.steps = steps
        self.alpha_bar = torch.cumprod(1 - beta, dim=0)

    def noised(self, x, t, noise):
        a = self.alpha_bar[t].unsqueeze(1)
        return a.sqrt() * x + (1 - a).sqrt() * noise


class Denoiser(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, hidden), nn.SiLU(), nn.Linear(hidden, 2))

    def forward(self, x, t):
        return self.net(torch.cat([x, t.unsqueeze(1)], dim=1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--ema", type=float, default=0.9)
    args = parser.parse_args()

    torch.manual_seed(100)
    data = moon()
    model, schedule = Denoiser(), Schedule()
    average = torch.optim.swa_utils.AveragedModel(
        model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(args.ema)
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    noise_rng = torch.Generator()
    noise_rng.manual_seed(secrets.randbits(48))
    for step in range(args.steps):
        t = torch.randint(0, schedule.steps, (len(data),))
        noise = torch.randn(data.shape, generator=noise_rng)
        predicted = model(schedule.noised(data, t, noise), t / schedule.steps)
        loss = (predicted - noise).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        average.update_parameters(model)
        print(f"step {step}: {loss.item():.4f}")


if __name__ == "__main__":
    main()
