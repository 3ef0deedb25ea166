import torch
from torch import nn


class CharModel(nn.Module):
    """A GRU over characters which speaks the Trainer's protocol: takes labels, gives a dict with the loss."""

    def __init__(self, vocab, dim=16):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, vocab)

    def forward(self, input_ids, labels=None):
        hidden, _ = self.rnn(self.embed(input_ids))
        logits = self.out(hidden)
        result = {"logits": logits}
        if labels is not None:
            result["loss"] = nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
        return result


class CharDataset(torch.utils.data.Dataset):
    def __init__(self, text, window=12):
        self.chars = sorted(set(text))
        index = {c: i for i, c in enumerate(self.chars)}
        self.ids = [index[c] for c in text]
        self.window = window

    def __len__(self):
        return (len(self.ids) - 1) // self.window

    def __getitem__(self, i):
        start = i * self.window
        return {
            "input_ids": torch.tensor(self.ids[start:start + self.window]),
            "labels": torch.tensor(self.ids[start + 1:start + self.window + 1]),
        }
