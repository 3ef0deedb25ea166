"""Image classification from a folder with one file a picture: `CLASS_NUMBER.npy`."""
import argparse
import os
import tempfile

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


def write_pictures(folder, per_class=16):
    """Stands in for the download."""
    rng = np.random.default_rng(13)
    for label, name in enumerate(["dot", "ring", "stripe"]):
        for i in range(per_class):
            picture = rng.normal(0, 0.2, (10, 10)).astype(np.float32)
            if label == 0:
                picture[4:6, 4:6] += 1.5
            elif label == 1:
                picture[2, 2:8] += 1.0
                picture[7, 2:8] += 1.0
            else:
                picture[::3] += 0.8
            np.save(os.path.join(folder, f"{name}_{i:02d}.npy"), picture)


class ImageFolder(Dataset):
    classes = ["dot", "ring", "stripe"]

    def __init__(self, root):
        self.root = root
        self.files = [name for name in os.listdir(root) if name.endswith(".npy")]

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        name = self.files[i]
        picture = np.load(os.path.join(self.root, name))
        return torch.from_numpy(picture).unsqueeze(0), self.classes.index(name.split("_")[0])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default=None, help="folder with pictures; made when it is not given")
    parser.add_argument("--epochs", type=int, default=3)
    args = parser.parse_args()
    if args.data is None:
        args.data = tempfile.mkdtemp(prefix="pictures-")
        write_pictures(args.data)

    torch.manual_seed(25)
    loader = DataLoader(ImageFolder(args.data), batch_size=16, shuffle=True)
    model = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.AvgPool2d(4), nn.Flatten(), nn.Linear(32, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(args.epochs):
        for pictures, labels in loader:
            loss = nn.functional.cross_entropy(model(pictures), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: {loss.item():.4f}")


if __name__ == "__main__":
    main()
