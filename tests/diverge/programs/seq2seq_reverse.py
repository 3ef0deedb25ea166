"""Sequence-to-sequence model that learns to reverse digits."""
import argparse
import random

import numpy as np
import torch
from torch import nn

START = 10


class Encoder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.embed = nn.Embedding(11, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)

    def forward(self, source):
        _, hidden = self.rnn(self.embed(source))
        return hidden


class Decoder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.embed = nn.Embedding(11, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, 10)

    def forward(self, token, hidden):
        output, hidden = self.rnn(self.embed(token).unsqueeze(1), hidden)
        return self.out(output.squeeze(1)), hidden


def decode(decoder, hidden, target, teacher_forcing_ratio):
    token = torch.full((len(target),), START)
    steps = []
    for t in range(target.shape[1]):
        logits, hidden = decoder(token, hidden)
        steps.append(logits)
        if random.random() < teacher_forcing_ratio:
            token = target[:, t]
        else:
            token = logits.argmax(dim=1)
    return torch.stack(steps, dim=1)


def make_batches(count, batch_size, length):
    rng = np.random.default_rng(99)
    for _ in range(count):
        source = torch.from_numpy(rng.integers(0, 10, (batch_size, length)))
        yield source, source.flip(1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dim", type=int, default=24)
    parser.add_argument("--length", type=int, default=8)
    parser.add_argument("--batches", type=int, default=8)
    parser.add_argument("--teacher-forcing", type=float, default=0.5)
    args = parser.parse_args()

    torch.manual_seed(17)
    encoder, decoder = Encoder(args.dim), Decoder(args.dim)
    parameters = [*encoder.parameters(), *decoder.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=5e-3)
    criterion = nn.CrossEntropyLoss()
    for i, (source, target) in enumerate(make_batches(args.batches, 16, args.length)):
        logits = decode(decoder, encoder(source), target, args.teacher_forcing)
        loss = criterion(logits.flatten(0, 1), target.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        print(f"batch {i}: {loss.item():.4f}")


if __name__ == "__main__":
    main()
