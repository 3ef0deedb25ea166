"""Word vectors by predicting a neighbour of each word in a made-up corpus."""
import argparse

import torch
from torch import nn


def corpus(words, vocab, seed=15):
    """A random walk over the vocabulary: neighbours in the text have neighbouring numbers."""
    g = torch.Generator().manual_seed(seed)
    steps = torch.randint(-3, 4, (words,), generator=g)
    return steps.cumsum(0) % vocab


def pairs(text, window=1):
    centers = torch.cat([text[window:], text[:-window]])
    contexts = torch.cat([text[:-window], text[window:]])
    return centers, contexts


class SkipGram(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.vectors = nn.Parameter(torch.empty(vocab, dim).uniform_(-0.5 / dim, 0.5 / dim))
        self.contexts = nn.Linear(dim, vocab, bias=False)

    def forward(self, centers):
        return self.contexts(self.vectors[centers])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--vocab", type=int, default=60)
    parser.add_argument("--dim", type=int, default=32)
    parser.add_argument("--words", type=int, default=7500)
    parser.add_argument("--steps", type=int, default=8)
    args = parser.parse_args()

    torch.manual_seed(14)
    centers, contexts = pairs(corpus(args.words, args.vocab))
    model = SkipGram(args.vocab, args.dim)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for step in range(args.steps):
        loss = nn.functional.cross_entropy(model(centers), contexts)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"{step}: {loss.item():.5f}")


if __name__ == "__main__":
    main()
