"""A project that never changes, so that what a check of it costs changes with torchlint alone."""

from __future__ import annotations

from pathlib import Path

MODULES = 24
_LAYERS = """import torch
from torch import nn
import torch.nn.functional as F

from net.parts{above} import Block{above}


class Block{number}(nn.Module):
    def __init__(self, width, mode="nearest"):
        super().__init__()
        self.mode = mode
        self.conv = nn.Conv2d(width, width, 3, padding=1)
        self.norm = nn.BatchNorm2d(width)
        self.below = Block{above}(width, mode=mode)

    def forward(self, x, index=None):
        x = self.norm(self.conv(x)).relu()
        if index is not None:
            x = x.index_add(0, index, torch.ones_like(x[index]))
        x = F.interpolate(x, scale_factor=2, mode=self.mode)
        return self.below(x)


def build(width, depth):
    layers = [Block{number}(width) for _ in range(depth)]
    for layer in layers:
        nn.init.kaiming_normal_(layer.conv.weight)
    return nn.Sequential(*layers)
"""
_FIRST = "from torch import nn\n\n\nclass Block0(nn.Identity):\n    pass\n"
_TRAIN = f"""import os
import random

import numpy as np
import torch

from net.parts{MODULES} import build


def main():
    torch.manual_seed(0)
    files = os.listdir("data")
    random.shuffle(files)
    net = build(8, 2).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for name in files:
        x = torch.from_numpy(np.load(name)).cuda()
        loss = net(x).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
"""
_PLAIN = "def join_{n}(parts):\n    return '-'.join(str(part) for part in parts)\n"


def write(folder: Path) -> Path:
    """The project below a folder, and beside it a package that is none of its business; the project is returned."""
    root = folder / "project"
    files = {"train.py": _TRAIN, "net/__init__.py": "", "net/parts0.py": _FIRST, "requirements.txt": "torch==2.6.0\n"}
    for number in range(1, MODULES + 1):
        files[f"net/parts{number}.py"] = _LAYERS.format(number=number, above=number - 1)
        files[f"tools/plain{number}.py"] = _PLAIN.format(n=number)
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (root / ".git").mkdir()
    neighbour = folder / "neighbour"
    neighbour.mkdir()
    for number in range(MODULES):
        (neighbour / f"other{number}.py").write_text(_TRAIN, encoding="utf-8")
    return root
