"""Click prediction with the hashing trick; plain gradient descent written out by hand."""
import argparse

import torch
from torch import nn

CLICKS = [
    ("site=news", "ad=shoes", "hour=9", 0),
    ("site=news", "ad=phone", "hour=9", 1),
    ("site=shop", "ad=shoes", "hour=20", 1),
    ("site=shop", "ad=bread", "hour=7", 0),
    ("site=blog", "ad=phone", "hour=22", 1),
    ("site=blog", "ad=bread", "hour=22", 0),
    ("site=mail", "ad=shoes", "hour=12", 0),
    ("site=mail", "ad=phone", "hour=13", 1),
]


class FactorizationMachine(nn.Module):
    def __init__(self, buckets, dim):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(()))
        self.linear = nn.Parameter(torch.zeros(buckets))
        self.factors = nn.Parameter(0.1 * torch.randn(buckets, dim))

    def forward(self, buckets):
        vectors = self.factors.index_select(0, buckets.flatten()).view(*buckets.shape, -1)
        pairwise = 0.5 * (vectors.sum(1) ** 2 - (vectors**2).sum(1)).sum(1)
        return self.bias + self.linear.index_select(0, buckets.flatten()).view(buckets.shape).sum(1) + pairwise


def bucket(feature, buckets):
    return hash(feature) % buckets


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--buckets", type=int, default=4096)
    parser.add_argument("--dim", type=int, default=4)
    parser.add_argument("--lr", type=float, default=0.3)
    parser.add_argument("--steps", type=int, default=10)
    args = parser.parse_args()

    torch.manual_seed(77)
    rows = [[bucket(f, args.buckets) for f in features] for *features, _ in CLICKS]
    x = torch.tensor(rows)
    y = torch.tensor([float(label) for *_, label in CLICKS])

    model = FactorizationMachine(args.buckets, args.dim)
    for step in range(args.steps):
        loss = nn.functional.binary_cross_entropy_with_logits(model(x), y)
        loss.backward()
        with torch.no_grad():
            for p in model.parameters():
                p -= args.lr * p.grad
                p.grad = None
        print(f"{step:3d} {loss.item():.5f}")


if __name__ == "__main__":
    main()
