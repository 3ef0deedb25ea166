import argparse

import torch
from graph import read_graph
from torch import nn


class MessagePassing(nn.Module):
    def __init__(self, inp, out):
        super().__init__()
        self.own = nn.Linear(inp, out)
        self.neighbour = nn.Linear(inp, out, bias=False)

    def forward(self, x, edge_index, edge_weight):
        source, target = edge_index
        messages = edge_weight[:, None] * self.neighbour(x).index_select(0, source)
        return self.own(x).index_add(0, target, messages)


class Network(nn.Module):
    def __init__(self, nodes, classes, edges, hidden=12):
        super().__init__()
        self.embed = nn.Embedding(nodes, hidden)
        self.edge_weight = nn.Parameter(torch.rand(edges))
        self.first = MessagePassing(hidden, hidden)
        self.second = MessagePassing(hidden, classes)

    def forward(self, edge_index):
        x = torch.tanh(self.first(self.embed.weight, edge_index, self.edge_weight))
        return self.second(x, edge_index, self.edge_weight)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hidden", type=int, default=12)
    parser.add_argument("--epochs", type=int, default=10)
    args = parser.parse_args()

    torch.manual_seed(6)
    authors, fields, pairs = read_graph()
    edge_index = torch.tensor(pairs).t().contiguous()
    labels = torch.tensor(fields)
    model = Network(len(authors), 3, edge_index.shape[1], args.hidden)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02, weight_decay=5e-4)
    for epoch in range(args.epochs):
        logits = model(edge_index)
        loss = nn.functional.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    accuracy = (logits.argmax(dim=1) == labels).float().mean()
    print(f"loss {loss.item():.4f}, accuracy {accuracy.item():.2f}")


if __name__ == "__main__":
    main()
