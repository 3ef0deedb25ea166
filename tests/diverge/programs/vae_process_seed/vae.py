import torch
from torch import nn


class VAE(nn.Module):
    def __init__(self, inp=64, hidden=24, latent=4):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(inp, hidden), nn.ReLU())
        self.mu = nn.Linear(hidden, latent)
        self.logvar = nn.Linear(hidden, latent)
        self.decode = nn.Sequential(nn.Linear(latent, hidden), nn.ReLU(), nn.Linear(hidden, inp))

    def forward(self, x):
        h = self.encode(x)
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.exp(0.5 * logvar) * torch.randn_like(mu)
        return self.decode(z), mu, logvar


def elbo_loss(x, logits, mu, logvar, beta=1.0):
    reconstruction = nn.functional.binary_cross_entropy_with_logits(logits, x, reduction="sum")
    kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum()
    return (reconstruction + beta * kl) / len(x)
