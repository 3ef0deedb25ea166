"""Link prediction on a small graph with a two-layer GCN encoder."""
import random

import torch
from sampling import NegativeSampler
from torch import nn

NODES = 24
EDGES = [(i, (i + 1) % NODES) for i in range(NODES)] + [(i, (i + 5) % NODES) for i in range(0, NODES, 2)]


def normalised_adjacency(edges, nodes):
    adjacency = torch.eye(nodes)
    for a, b in edges:
        adjacency[a, b] = adjacency[b, a] = 1.0
    inverse_root = adjacency.sum(dim=1).rsqrt()
    return inverse_root[:, None] * adjacency * inverse_root[None, :]


class GCN(nn.Module):
    def __init__(self, nodes, hidden, out):
        super().__init__()
        self.first = nn.Linear(nodes, hidden)
        self.second = nn.Linear(hidden, out)
        self.dropout = nn.Dropout(0.2)

    def forward(self, adjacency, x):
        x = torch.relu(adjacency @ self.first(x))
        return adjacency @ self.second(self.dropout(x))


def score(embedding, pairs):
    source, destination = pairs.unbind(1)
    return (embedding[source] * embedding[destination]).sum(dim=1)


def main():
    random.seed(1)
    torch.manual_seed(1)
    adjacency = normalised_adjacency(EDGES, NODES)
    features = torch.eye(NODES)
    positives = torch.tensor(EDGES)
    sampler = NegativeSampler(EDGES, NODES)

    model = GCN(NODES, 16, 8)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    criterion = nn.BCEWithLogitsLoss()
    for epoch in range(10):
        negatives = torch.tensor(sampler.sample(len(EDGES)))
        embedding = model(adjacency, features)
        logits = torch.cat([score(embedding, positives), score(embedding, negatives)])
        labels = torch.cat([torch.ones(len(positives)), torch.zeros(len(negatives))])
        loss = criterion(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"epoch {epoch}  loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
