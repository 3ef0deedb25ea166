"""Sequences: recurrent networks, attention, embeddings."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import math

import torch
from torch import nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from tests.verify.clean_modules.entry import Inputs, Table
from tests.verify.flagged import floats, indices


def rows(length: int = 12, width: int = 16) -> Inputs:
    return lambda: (floats(2, length, width),)


def tokens(below: int = 50, length: int = 12) -> Inputs:
    return lambda: (indices(below, 2, length),)


class Recurrent(nn.Module):
    def __init__(self, kind: str, *, is_bidirectional: bool = False) -> None:
        super().__init__()
        made = {"RNN": nn.RNN, "LSTM": nn.LSTM, "GRU": nn.GRU}[kind]
        self.body = made(16, 8, num_layers=2, batch_first=True, dropout=0.2, bidirectional=is_bidirectional)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.body(x)[0]


class Packed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.GRU(16, 8, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        lengths = [x.shape[1] - number % 4 for number in range(len(x))]
        packed = pack_padded_sequence(x, torch.tensor(lengths), batch_first=True, enforce_sorted=False)
        return pad_packed_sequence(self.body(packed)[0], batch_first=True)[0]


class Cells(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(16, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        state = (x.new_zeros(len(x), 8), x.new_zeros(len(x), 8))
        outputs = []
        for step in x.unbind(1):
            state = self.cell(step, state)
            outputs.append(state[0])
        return torch.stack(outputs, 1)


class SelfAttention(nn.Module):
    def __init__(self, *, is_fused: bool) -> None:
        super().__init__()
        self.is_fused = is_fused
        self.read = nn.Linear(16, 48)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        query, key, value = (part.unflatten(2, (4, 4)).transpose(1, 2) for part in self.read(x).chunk(3, dim=-1))
        if self.is_fused:
            return functional.scaled_dot_product_attention(query, key, value, is_causal=True, dropout_p=0.1)
        scores = query @ key.transpose(-1, -2) / math.sqrt(4)
        mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        return scores.masked_fill(mask, -math.inf).softmax(-1) @ value


class MultiHead(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.MultiheadAttention(16, 4, dropout=0.1, batch_first=True)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.body(x, x, x)


class Rotary(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("rates", 1.0 / 100 ** (torch.arange(0, 16, 2) / 16), persistent=False)
        self.read = nn.Linear(16, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        angles = torch.outer(torch.arange(x.shape[1], dtype=torch.float32), self.get_buffer("rates"))
        even, odd = self.read(x)[..., ::2], self.read(x)[..., 1::2]
        turned = (even * angles.cos() - odd * angles.sin(), even * angles.sin() + odd * angles.cos())
        return torch.stack(turned, -1).flatten(-2)


class RelativeBias(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.read = nn.Linear(16, 32)
        self.bias = nn.Embedding(23, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        query, key = self.read(x).chunk(2, -1)
        places = torch.arange(x.shape[1])
        apart = places[:, None] - places[None, :] + x.shape[1] - 1
        return (query @ key.transpose(1, 2) + self.bias(apart)[..., 0]).softmax(-1) @ x


class Windows(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.read = nn.Linear(16, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        shifted = torch.roll(self.read(x), 1, dims=1).unflatten(1, (3, 4))
        return torch.roll(((shifted @ shifted.mT).softmax(-1) @ shifted).flatten(1, 2), -1, dims=1)


class LinearAttention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.read = nn.Linear(16, 48)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        query, key, value = self.read(x).chunk(3, -1)
        summed = torch.einsum("bnd,bne->bnde", functional.elu(key) + 1, value).cumsum(1)
        return torch.einsum("bnd,bnde->bne", functional.elu(query) + 1, summed)


class Seq2Seq(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Transformer(16, 2, 1, 1, 32, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.body(x, x[:, :5], tgt_mask=nn.Transformer.generate_square_subsequent_mask(5))


class Classifier(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(50, 16, padding_idx=0, max_norm=2.0)
        self.places = nn.Parameter(torch.zeros(12, 16))
        self.head = nn.Linear(16, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head((self.words(x) + self.places).mean(1))


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(50, 16)
        self.head = nn.Linear(16, 50, bias=False)
        self.head.weight = self.words.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(functional.normalize(self.words(x), dim=-1))


class Experts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.route = nn.Linear(16, 3)
        self.experts = nn.ModuleList([nn.Linear(16, 16) for _ in range(3)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        weights, chosen = self.route(x).softmax(-1).topk(2, -1)
        total = torch.zeros_like(x)
        for number, expert in enumerate(self.experts):
            share = (weights * (chosen == number)).sum(-1, keepdim=True)
            total = total + share * expert(x)
        return total


class GreedyDecoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(50, 16)
        self.step = nn.GRUCell(16, 16)
        self.head = nn.Linear(16, 50)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        state, word, scores = torch.zeros(len(x), 16), x[:, 0], []
        for _ in range(4):
            state = self.step(self.words(word), state)
            scores.append(self.head(state))
            word = scores[-1].argmax(-1)
        return torch.stack(scores, 1)


class Sampler(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(16, 50)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        shares = self.head(x[:, -1]).softmax(-1)
        drawn = torch.multinomial(shares, 3)
        return drawn, shares.gather(1, drawn).log()


MODULES: Table = {
    "RNN": (lambda: Recurrent("RNN"), rows()),
    "LSTM": (lambda: Recurrent("LSTM"), rows()),
    "LSTM, both directions": (lambda: Recurrent("LSTM", is_bidirectional=True), rows()),
    "GRU": (lambda: Recurrent("GRU"), rows()),
    "packed sequence": (Packed, rows()),
    "LSTM cells in a loop": (Cells, rows()),
    "attention by hand": (lambda: SelfAttention(is_fused=False), rows()),
    "fused attention": (lambda: SelfAttention(is_fused=True), rows()),
    "multi-head attention": (MultiHead, rows()),
    "transformer encoder layer": (lambda: nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), rows()),
    "transformer encoder, norm first": (
        lambda: nn.TransformerEncoder(
            nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, norm_first=True), 2, enable_nested_tensor=False
        ),
        rows(),
    ),
    "transformer": (Seq2Seq, rows()),
    "rotary positions": (Rotary, rows()),
    "relative bias": (RelativeBias, rows()),
    "shifted windows": (Windows, rows()),
    "linear attention": (LinearAttention, rows()),
    "word classifier": (Classifier, tokens()),
    "tied embedding": (Tied, tokens()),
    "embedding bag, sum": (lambda: nn.EmbeddingBag(50, 16, mode="sum"), tokens()),
    "embedding bag, mean": (lambda: nn.EmbeddingBag(50, 16, mode="mean"), tokens()),
    "embedding bag, max": (lambda: nn.EmbeddingBag(50, 16, mode="max"), tokens()),
    "sparse embedding gradient": (lambda: nn.Embedding(50, 16, sparse=True), tokens()),
    "experts": (Experts, rows()),
    "greedy decoder": (GreedyDecoder, tokens()),
    "sampler": (Sampler, rows()),
    "temporal convolution": (
        lambda: nn.Sequential(nn.Conv1d(12, 8, 3, padding=2, dilation=2), nn.PReLU(), nn.BatchNorm1d(8), nn.GLU(1)),
        rows(),
    ),
}
