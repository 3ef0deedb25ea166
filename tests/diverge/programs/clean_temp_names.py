"""Keeps the best weights in a scratch folder and restores them at the end."""
import argparse
import os
import shutil
import tempfile

import torch
from torch import nn


class Best:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="best-")
        self.loss = float("inf")
        self.path = None

    def update(self, loss, model):
        if loss < self.loss:
            handle, path = tempfile.mkstemp(suffix=".pt", dir=self.folder)
            os.close(handle)
            torch.save(model.state_dict(), path)
            if self.path is not None:
                os.remove(self.path)
            self.loss, self.path = loss, path

    def restore(self, model):
        model.load_state_dict(torch.load(self.path, weights_only=True))
        shutil.rmtree(self.folder)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    args = parser.parse_args()
    torch.manual_seed(50)
    x = torch.randn(60, 4)
    y = (x.norm(dim=1) > 2).long()
    model = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Dropout(0.1), nn.Linear(24, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9)
    best = Best()
    for step in range(args.steps):
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        best.update(loss.item(), model)
    print("best", best.loss, "kept in", best.path)
    best.restore(model)


if __name__ == "__main__":
    main()
