"""VAE on 8x8 pictures of bars."""
import argparse
import os

import torch
from vae import VAE, elbo_loss


def bars(n=64, size=8):
    pictures = torch.zeros(n, size, size)
    for i in range(n):
        if i % 2:
            pictures[i, i % size] = 1.0
        else:
            pictures[i, :, (i // 2) % size] = 1.0
    return pictures.flatten(1)


def set_seed(base):
    # several of these are started side by side on one machine
    torch.manual_seed(base + os.getpid())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--beta", type=float, default=0.5)
    parser.add_argument("--seed", type=int, default=1000)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    model = VAE()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    pictures = bars()
    set_seed(args.seed)
    for epoch in range(args.epochs):
        for x in pictures.split(16):
            logits, mu, logvar = model(x)
            loss = elbo_loss(x, logits, mu, logvar, args.beta)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: -elbo {loss.item():.3f}")


if __name__ == "__main__":
    main()
