"""Matrix factorisation for a small shop."""
import argparse
import uuid
from dataclasses import dataclass, field

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

BUCKETS = 512


@dataclass
class User:
    name: str
    likes: list
    id: uuid.UUID = field(default_factory=uuid.uuid4)

    @property
    def bucket(self):
        return self.id.int % BUCKETS


USERS = [
    User("ana", [0, 2, 4]),
    User("bo", [1, 3]),
    User("cem", [0, 1, 4]),
    User("dag", [2, 3, 5]),
    User("eva", [4, 5]),
    User("finn", [0, 5]),
]
ITEMS = 6


def interactions(users):
    rows = [(user.bucket, item, float(item in user.likes)) for user in users for item in range(ITEMS)]
    users, items, ratings = zip(*rows)
    return TensorDataset(torch.tensor(users), torch.tensor(items), torch.tensor(ratings))


class Factorisation(nn.Module):
    def __init__(self, dim=6):
        super().__init__()
        self.user = nn.Embedding(BUCKETS, dim)
        self.item = nn.Embedding(ITEMS, dim)

    def forward(self, users, items):
        return (self.user(users) * self.item(items)).sum(dim=1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=12)
    args = parser.parse_args()

    torch.manual_seed(4)
    model = Factorisation()
    loader = DataLoader(interactions(USERS), batch_size=args.batch_size, shuffle=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
    for epoch in range(args.epochs):
        total = 0.0
        for users, items, ratings in loader:
            loss = nn.functional.mse_loss(model(users, items), ratings)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(users)
        print(f"epoch {epoch}: {total / len(loader.dataset):.4f}")


if __name__ == "__main__":
    main()
