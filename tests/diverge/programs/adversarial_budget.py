"""Adversarial training: each attack may spend a fixed time budget."""
import argparse
import time

import torch
from torch import nn


def blobs(n=96, classes=3):
    g = torch.Generator().manual_seed(21)
    labels = torch.arange(n) % classes
    centers = torch.tensor([[2.0, 0.0], [-1.0, 1.7], [-1.0, -1.7]])
    return centers[labels] + 0.6 * torch.randn(n, 2, generator=g), labels


class Attack:
    """Projected gradient ascent for as long as the budget lasts."""

    def __init__(self, model, epsilon, budget):
        self.model = model
        self.epsilon = epsilon
        self.budget = budget
        self.rounds = 0

    def __call__(self, x, y):
        delta = torch.zeros_like(x)
        deadline = time.perf_counter() + self.budget
        while time.perf_counter() < deadline:
            delta.requires_grad_(True)
            loss = nn.functional.cross_entropy(self.model(x + delta), y)
            (grad,) = torch.autograd.grad(loss, delta)
            step = 0.01 * grad / grad.norm(dim=1, keepdim=True).clamp(min=1e-12)
            delta = (delta.detach() + step).clamp(-self.epsilon, self.epsilon)
            self.rounds += 1
        return (x + delta).detach()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--epsilon", type=float, default=4.0)
    parser.add_argument("--budget-ms", type=float, default=80.0)
    args = parser.parse_args()

    torch.manual_seed(30)
    x, y = blobs()
    model = nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 3))
    attack = Attack(model, args.epsilon, args.budget_ms / 1000)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for epoch in range(args.epochs):
        loss = nn.functional.cross_entropy(model(attack(x, y)), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"epoch {epoch}: robust loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
