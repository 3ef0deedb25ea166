"""Predict a made-up energy of small molecules; some atoms (ions) have no bond."""
import torch
from layers import MoleculeNet
from torch import nn

ELEMENTS = ["H", "C", "N", "O", "Na", "Cl"]
MOLECULES = [
    # atoms, bonds, energy
    (["O", "H", "H"], [(0, 1), (0, 2)], -0.8),
    (["C", "O", "O"], [(0, 1), (0, 2)], -1.6),
    (["N", "H", "H", "H"], [(0, 1), (0, 2), (0, 3)], -1.1),
    (["Na", "O", "H"], [(1, 2)], -0.5),
    (["Na", "Cl"], [], -0.3),
    (["C", "H", "H", "H", "H"], [(0, 1), (0, 2), (0, 3), (0, 4)], -1.7),
]


def to_tensors(atoms, bonds, energy):
    numbers = torch.tensor([ELEMENTS.index(atom) for atom in atoms])
    x = nn.functional.one_hot(numbers, len(ELEMENTS)).float()
    both = bonds + [(b, a) for a, b in bonds]
    return x, torch.tensor(both, dtype=torch.long).view(-1, 2).t(), torch.tensor([energy])


def main():
    torch.manual_seed(3)
    model = MoleculeNet(len(ELEMENTS))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
    molecules = [to_tensors(*molecule) for molecule in MOLECULES]
    for epoch in range(2):
        total = 0.0
        for x, bonds, energy in molecules:
            loss = nn.functional.mse_loss(model(x, bonds), energy)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_value_(model.parameters(), 1.0)
            optimizer.step()
            total += loss.item()
        scheduler.step()
        print(f"epoch {epoch}: {total / len(molecules):.4f}")


if __name__ == "__main__":
    main()
