"""Train a small CNN on synthetic shapes."""
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Shapes(Dataset):
    """Bright squares (class 1) and bright crosses (class 0) on a dark background."""

    def __init__(self, n=64, size=16):
        g = torch.Generator().manual_seed(7)
        self.images = 0.1 * torch.randn(n, 1, size, size, generator=g)
        self.labels = torch.arange(n) % 2
        for i in range(n):
            r, c = torch.randint(2, size - 8, (2,), generator=g).tolist()
            if self.labels[i]:
                self.images[i, 0, r:r + 5, c:c + 5] += 1.0
            else:
                self.images[i, 0, r + 2, c:c + 5] += 1.0
                self.images[i, 0, r:r + 5, c + 2] += 1.0

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return self.images[i], self.labels[i]


class SmallCNN(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.conv1 = nn.Conv2d(1, width, 3, padding=1)
        self.conv2 = nn.Conv2d(width, 2 * width, 3, padding=1)
        self.pool = nn.MaxPool2d(2)
        self.head = nn.Linear(2 * width * 16, 2)

    def forward(self, x):
        x = self.pool(torch.relu(self.conv1(x)))
        x = self.pool(torch.relu(self.conv2(x)))
        return self.head(x.flatten(1))


def train(model, loader, epochs, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        running = 0.0
        for images, labels in loader:
            optimizer.zero_grad()
            loss = criterion(model(images), labels)
            loss.backward()
            optimizer.step()
            running += loss.item()
        scheduler.step()
        print(f"epoch {epoch}: loss {running / len(loader):.4f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=42)
    args = parser.parse_args()

    model = SmallCNN()
    print(f"{sum(p.numel() for p in model.parameters())} parameters")

    torch.manual_seed(args.seed)
    loader = DataLoader(Shapes(), batch_size=16, shuffle=True)
    train(model, loader, args.epochs, args.lr)


if __name__ == "__main__":
    main()
