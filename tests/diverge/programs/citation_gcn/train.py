"""Node classification on a made-up citation graph."""
import argparse

import torch
from model import GCN
from torch import nn


def citation_graph(nodes, edges, features, classes, seed):
    g = torch.Generator().manual_seed(seed)
    labels = torch.arange(nodes) % classes
    source = torch.randint(nodes, (edges,), generator=g)
    hop = torch.randint(nodes // classes, (edges,), generator=g) * classes  # mostly within a class
    target = (source + hop + (torch.rand(edges, generator=g) < 0.1)) % nodes
    x = torch.randn(nodes, features, generator=g)
    x[torch.arange(nodes), labels] += 1.0
    return x, source, target, labels


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, default=300)
    parser.add_argument("--edges", type=int, default=12000)
    parser.add_argument("--hidden", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=8)
    args = parser.parse_args()

    torch.manual_seed(10)
    x, source, target, labels = citation_graph(args.nodes, args.edges, 16, 5, seed=10)
    train = torch.arange(args.nodes) < 200
    model = GCN(16, args.hidden, 5)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    for epoch in range(args.epochs):
        model.train()
        logits = model(x, source, target)
        loss = nn.functional.cross_entropy(logits[train], labels[train])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        accuracy = (logits[~train].argmax(dim=1) == labels[~train]).float().mean()
        print(f"epoch {epoch}: loss {loss.item():.4f}, validation accuracy {accuracy.item():.3f}")


if __name__ == "__main__":
    main()
