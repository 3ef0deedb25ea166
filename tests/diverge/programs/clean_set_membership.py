"""Masked-word model: stop words are never masked."""
import torch
from torch import nn

CORPUS = """the ship left the harbour before dawn
a gull followed the ship for an hour
the crew watched the gull and the waves
before noon the harbour was out of sight""".split("\n")
STOP = {"the", "a", "an", "and", "of", "for", "was", "out"}


class Masked(nn.Module):
    def __init__(self, vocab, dim=16):
        super().__init__()
        self.embed = nn.Embedding(vocab + 1, dim)
        self.mix = nn.GRU(dim, dim, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * dim, vocab)

    def forward(self, ids):
        return self.out(self.mix(self.embed(ids))[0])


def main(steps=20):
    torch.manual_seed(24)
    seen = set()
    vocab = []
    for word in " ".join(CORPUS).split():
        if word not in seen:
            seen.add(word)
            vocab.append(word)
    index = {word: i for i, word in enumerate(vocab)}
    model = Masked(len(vocab))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for step in range(steps):
        words = CORPUS[step % len(CORPUS)].split()
        ids = torch.tensor([[index[word] for word in words]])
        maskable = torch.tensor([[word not in STOP for word in words]])
        chosen = maskable & (torch.rand(ids.shape) < 0.5)
        if not chosen.any():
            chosen = maskable
        logits = model(ids.masked_fill(chosen, len(vocab)))
        loss = nn.functional.cross_entropy(logits[chosen], ids[chosen])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f} over {len(seen)} words, {len(seen & STOP)} of them stop words")


if __name__ == "__main__":
    main()
