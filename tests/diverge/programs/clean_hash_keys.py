"""Graph regression; neighbourhoods are memoised under the hash of the node's name."""
import torch
from torch import nn

ROADS = [("Ulm", "Aalen"), ("Aalen", "Nord"), ("Nord", "Gera"), ("Gera", "Jena"), ("Jena", "Ulm"), ("Nord", "Jena")]


class Neighbours:
    def __init__(self, roads):
        self.roads = roads
        self.memo = {}

    def __call__(self, town):
        key = hash(("neighbours", town))
        if key not in self.memo:
            found = {b for a, b in self.roads if a == town} | {a for a, b in self.roads if b == town}
            self.memo[key] = sorted(found)
        return self.memo[key]


class TownModel(nn.Module):
    def __init__(self, towns, dim=8):
        super().__init__()
        self.towns = towns
        self.embed = nn.Embedding(len(towns), dim)
        self.out = nn.Linear(2 * dim, 1)

    def forward(self, town, neighbours):
        own = self.embed(torch.tensor(self.towns.index(town)))
        around = self.embed(torch.tensor([self.towns.index(n) for n in neighbours])).mean(dim=0)
        return self.out(torch.cat([own, around]))


def main(steps=20):
    torch.manual_seed(47)
    towns = list(dict.fromkeys(town for road in ROADS for town in road))
    neighbours = Neighbours(ROADS)
    model = TownModel(towns)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(steps):
        town = towns[step % len(towns)]
        target = torch.tensor([float(len(neighbours(town)))])
        loss = nn.functional.mse_loss(model(town, neighbours(town)), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}, {len(neighbours.memo)} neighbourhoods")


if __name__ == "__main__":
    main()
