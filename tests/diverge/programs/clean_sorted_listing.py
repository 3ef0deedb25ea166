"""Learns from text files in a folder, in the order of their names."""
import os
import tempfile
from pathlib import Path

import torch
from torch import nn

POEMS = {
    "winter": "snow on the roof and smoke above the town",
    "autumn": "leaves on the road and rain above the hill",
    "spring": "buds on the branch and wind above the field",
    "summer": "bees on the clover and sun above the lake",
}


def write(folder):
    for name, text in POEMS.items():
        (folder / f"{name}.txt").write_text(text)


def read(folder):
    names = os.listdir(folder)
    print(f"{len(names)} files, {sum(entry.stat().st_size for entry in os.scandir(folder))} bytes")
    return [(folder / name).read_text() for name in sorted(names)]


class Bigram(nn.Module):
    def __init__(self, vocab, dim=12):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.out = nn.Linear(dim, vocab)

    def forward(self, ids):
        return self.out(self.embed(ids))


def main(steps=20):
    torch.manual_seed(44)
    folder = Path(tempfile.mkdtemp(prefix="poems-"))
    write(folder)
    texts = read(folder)
    letters = sorted(set("".join(texts)))
    encoded = [torch.tensor([letters.index(c) for c in text]) for text in texts]
    model = Bigram(len(letters))
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    for step in range(steps):
        ids = encoded[step % len(encoded)]
        loss = nn.functional.cross_entropy(model(ids[:-1]), ids[1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
