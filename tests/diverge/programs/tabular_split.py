"""Credit scoring on a made-up table: logistic regression against a small MLP."""
import argparse

import numpy as np
import torch
from torch import nn


def load_table(rows=200):
    rng = np.random.default_rng(0)
    income = rng.lognormal(3.0, 0.5, rows)
    age = rng.integers(18, 80, rows)
    debts = rng.exponential(5.0, rows)
    default = (debts / income + 0.1 * rng.standard_normal(rows) > 0.25).astype(np.float32)
    return np.stack([income, age, debts], axis=1).astype(np.float32), default


def split(features, target, test_share):
    order = np.random.permutation(len(features))
    cut = int(len(features) * (1 - test_share))
    train, test = order[:cut], order[cut:]
    return features[train], target[train], features[test], target[test]


def standardise(train, test):
    mean, std = train.mean(axis=0), train.std(axis=0)
    return (train - mean) / std, (test - mean) / std


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--test-share", type=float, default=0.25)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--weight-decay", type=float, default=1e-3)
    args = parser.parse_args()

    torch.manual_seed(2024)
    features, target = load_table()
    x_train, y_train, x_test, y_test = split(features, target, args.test_share)
    x_train, x_test = standardise(x_train, x_test)
    x = torch.from_numpy(x_train)
    y = torch.from_numpy(y_train)

    model = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=args.weight_decay)
    criterion = nn.BCEWithLogitsLoss()
    for step in range(args.steps):
        optimizer.zero_grad()
        loss = criterion(model(x).squeeze(1), y)
        loss.backward()
        optimizer.step()
        if step % 3 == 0:
            print(f"step {step}: {loss.item():.4f}")

    with torch.no_grad():
        predicted = model(torch.from_numpy(x_test)).squeeze(1) > 0
    print("test accuracy", (predicted.numpy() == y_test.astype(bool)).mean())


if __name__ == "__main__":
    main()
