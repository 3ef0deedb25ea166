"""GAN on a ring of Gaussians, after the usual two-step recipe."""
import argparse
import math

import torch
from networks import Discriminator, Generator
from torch.nn import functional as F


def ring(n, modes=8):
    which = torch.arange(n) % modes
    angle = 2 * math.pi * which / modes
    centers = 0.7 * torch.stack([angle.cos(), angle.sin()], dim=1)
    return centers + 0.02 * torch.randn(n, 2)


class Sampler:
    """Latent noise from a stream of its own, so that the data pipeline can change without touching it."""

    def __init__(self, dim, device="cpu"):
        self.dim = dim
        self.generator = torch.Generator(device=device)
        self.generator.seed()

    def __call__(self, n):
        return torch.randn(n, self.dim, generator=self.generator)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--latent", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--iterations", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    torch.manual_seed(args.seed)

    generator = Generator(args.latent, 2)
    discriminator = Discriminator(2)
    opt_g = torch.optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.999))
    opt_d = torch.optim.Adam(discriminator.parameters(), lr=2e-4, betas=(0.5, 0.999))
    sample = Sampler(args.latent)
    real = ring(512)

    for it in range(args.iterations):
        batch = real[torch.randperm(len(real))[:args.batch_size]]
        fake = generator(sample(args.batch_size))

        d_real = discriminator(batch)
        d_fake = discriminator(fake.detach())
        loss_d = F.softplus(-d_real).mean() + F.softplus(d_fake).mean()
        opt_d.zero_grad()
        loss_d.backward()
        opt_d.step()

        loss_g = F.softplus(-discriminator(fake)).mean()
        opt_g.zero_grad()
        loss_g.backward()
        opt_g.step()
        print(f"[{it}] D {loss_d.item():.4f}  G {loss_g.item():.4f}")


if __name__ == "__main__":
    main()
