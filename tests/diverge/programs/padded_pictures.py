"""Pictures of different sizes, collated on a common canvas."""
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Crops(Dataset):
    """Checkerboards and gradients between 6x6 and 12x12."""

    def __init__(self, n=48):
        g = torch.Generator().manual_seed(31)
        self.items = []
        for i in range(n):
            h, w = torch.randint(6, 13, (2,), generator=g).tolist()
            if i % 2:
                picture = (torch.arange(h)[:, None] + torch.arange(w)) % 2
            else:
                picture = torch.linspace(0, 1, w).expand(h, w)
            self.items.append((picture.float() + 0.05 * torch.randn(h, w, generator=g), i % 2))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(batch, size=12):
    canvas = torch.empty(len(batch), 1, size, size)
    for i, (picture, _) in enumerate(batch):
        h, w = picture.shape
        canvas[i, 0, :h, :w] = picture
    return canvas, torch.tensor([label for _, label in batch])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3, padding=1)
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        return self.head(torch.relu(self.conv(x.clamp(-1, 2))).mean(dim=(2, 3)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=16)
    args = parser.parse_args()

    torch.manual_seed(32)
    loader = DataLoader(Crops(), batch_size=args.batch_size, shuffle=True, collate_fn=collate)
    net = Net()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    for epoch in range(args.epochs):
        for canvas, labels in loader:
            loss = nn.functional.cross_entropy(net(canvas), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
