"""An experiment tracker in miniature; each run gets an id and a folder."""
import argparse
import json
import secrets
import tempfile
import uuid
from pathlib import Path

import torch
from torch import nn


class Run:
    def __init__(self, project, config):
        self.id = uuid.uuid4().hex[:8]
        self.token = secrets.token_hex(8)
        self.folder = Path(tempfile.mkdtemp()) / f"{project}-{self.id}"
        self.folder.mkdir()
        (self.folder / "config.json").write_text(json.dumps({**config, "token": self.token}))
        self.history = []

    def log(self, **values):
        self.history.append(values)

    def finish(self):
        (self.folder / "history.json").write_text(json.dumps(self.history))
        print(f"run {self.id}: {len(self.history)} rows, last {self.history[-1]}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=28)
    args = parser.parse_args()
    run = Run("xor", vars(args))
    torch.manual_seed(args.seed)
    x = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    y = torch.tensor([[0.0], [1.0], [1.0], [0.0]])
    model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
    optimizer = torch.optim.Rprop(model.parameters(), lr=args.lr)
    for step in range(args.steps):
        loss = nn.functional.binary_cross_entropy_with_logits(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        run.log(step=step, loss=round(loss.item(), 5))
    run.finish()


if __name__ == "__main__":
    main()
