import torch
from torch import nn


class NeighbourMean(nn.Module):
    """Mean of the neighbours' features, projected."""

    def __init__(self, inp, out):
        super().__init__()
        self.own = nn.Linear(inp, out)
        self.neighbours = nn.Linear(inp, out, bias=False)

    def forward(self, x, bonds):
        return self.own(x) + self.neighbours(self.aggregate(x, bonds))

    @staticmethod
    def aggregate(x, bonds):
        pooled = x.new_empty(x.shape)
        for atom in bonds[1].unique().tolist():
            sources = bonds[0][bonds[1] == atom]
            pooled[atom] = x.index_select(0, sources).mean(dim=0)
        return pooled


class MoleculeNet(nn.Module):
    def __init__(self, elements, hidden=8):
        super().__init__()
        self.layer = NeighbourMean(elements, hidden)
        self.readout = nn.Linear(hidden, 1)

    def forward(self, x, bonds):
        return self.readout(torch.tanh(self.layer(x, bonds)).sum(dim=0))
