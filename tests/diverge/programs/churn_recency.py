"""Will a customer leave? A small network on recency, frequency and spending."""
import argparse
from datetime import datetime

import torch
from torch import nn

CUSTOMERS = [
    # last order, orders, spent, left
    ("2025-01-03 10:12:00", 12, 340.0, 0),
    ("2024-11-20 18:40:00", 2, 25.0, 1),
    ("2025-02-11 09:05:00", 7, 120.5, 0),
    ("2024-08-30 21:17:00", 1, 9.9, 1),
    ("2025-03-01 12:00:00", 20, 810.0, 0),
    ("2024-09-14 08:33:00", 3, 41.0, 1),
    ("2025-01-28 15:50:00", 9, 230.0, 0),
    ("2024-10-02 11:11:00", 4, 77.0, 1),
]


def recency_days(stamp):
    last = datetime.strptime(stamp, "%Y-%m-%d %H:%M:%S")
    return (datetime.now() - last).total_seconds() / 86400


def build_features(customers):
    rows = []
    for stamp, orders, spent, _ in customers:
        rows.append([recency_days(stamp), float(orders), spent / max(orders, 1)])
    return rows


class ChurnNet(nn.Module):
    def __init__(self, features, hidden=10):
        super().__init__()
        self.norm = nn.BatchNorm1d(features)
        self.layers = nn.Sequential(nn.Linear(features, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, x):
        return self.layers(self.norm(x)).squeeze(1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--lr", type=float, default=0.02)
    args = parser.parse_args()

    torch.manual_seed(0)
    x = torch.tensor(build_features(CUSTOMERS), dtype=torch.float64)
    y = torch.tensor([left for *_, left in CUSTOMERS], dtype=torch.float64)
    model = ChurnNet(x.shape[1]).double()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        loss = nn.functional.binary_cross_entropy_with_logits(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if epoch % 3 == 0:
            print(f"epoch {epoch} loss {loss.item():.6f}")


if __name__ == "__main__":
    main()
