"""Small projects as people write them: what an audit should say of each is known."""

from __future__ import annotations

import json
from pathlib import Path

RULES = (
    '[tool.torchlint]\nselect = ["TL103", "TL106", "TL201", "TL207", "TL210", "TL301", "TL302", "TL303", "TL304", '
    '"TL401", "TL501"]\n'
)
"""The rules are named, so that a new one changes no page here."""

_MODEL = '''\
"""A small segmentation network."""
import torch.nn.functional as F
from torch import nn


class Segmenter(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.down = nn.Conv2d(3, 32, 3, stride=2, padding=1)
        self.head = nn.Conv2d(32, classes, 1)

    def forward(self, image):
        small = self.head(self.down(image).relu())
        return F.interpolate(small, scale_factor=2, mode="bicubic")


class Upscaler(nn.Module):
    """Of an older experiment."""

    def forward(self, image):
        return F.interpolate(image, scale_factor=2, mode="trilinear")
'''

_LOOSE_TRAIN = '''\
"""Train the network."""
import argparse
import os
import random

import numpy as np
import torch
from torch.utils.data import DataLoader

from segment.data import Scenes
from segment.model import Segmenter


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", default="scenes")
    parser.add_argument("--workers", type=int, default=4)
    arguments = parser.parse_args()
    random.seed(1)
    torch.manual_seed(1)
    torch.backends.cudnn.benchmark = True
    class_of = {name: index for index, name in enumerate(os.listdir(arguments.folder))}
    order = np.random.permutation(len(class_of))
    loader = DataLoader(Scenes(class_of, order), batch_size=8, shuffle=True, num_workers=arguments.workers)
    model = Segmenter(len(class_of)).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for image, target in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(image.cuda()), target.cuda())
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
'''

_DATA = '''\
"""The scenes on disk."""
import torch
from torch.utils.data import Dataset


class Scenes(Dataset):
    def __init__(self, class_of, order):
        self.class_of = class_of
        self.order = order

    def __len__(self):
        return len(self.order)

    def __getitem__(self, index):
        return torch.zeros(3, 64, 64), torch.zeros(64, 64, dtype=torch.long)
'''

_STRICT_TRAIN = '''\
"""Train a regression that repeats."""
import torch
from torch import nn


def main():
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(1)
    torch.backends.cudnn.benchmark = False
    model = nn.Sequential(nn.Conv1d(8, 8, 3), nn.Flatten(), nn.Linear(48, 1)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(10):
        optimizer.zero_grad()
        model(torch.ones(4, 8, 8).cuda()).mean().backward()
        optimizer.step()


if __name__ == "__main__":
    main()
'''

LOOSE = {
    "pyproject.toml": '[project]\nname = "segment"\ndependencies = ["torch>=2.6,<2.9", "numpy"]\n\n' + RULES,
    "Dockerfile": "FROM python:3.12\nENV PYTHONHASHSEED=0\nCMD python train.py\n",
    "segment/__init__.py": "",
    "segment/model.py": _MODEL,
    "segment/data.py": _DATA,
    "train.py": _LOOSE_TRAIN,
    "tests/test_model.py": _LOOSE_TRAIN,
}
"""Much is wrong with it: numpy is not seeded, cuDNN times its algorithms, class ids depend on a listing."""

STRICT = {
    "pyproject.toml": '[project]\nname = "strict"\ndependencies = ["torch==2.13.*"]\n\n' + RULES,
    "train.py": _STRICT_TRAIN,
}
"""Nothing that reading can find is wrong with it."""

TWO_MODES = {
    "pyproject.toml": '[project]\nname = "two"\ndependencies = ["torch==2.13.*"]\n\n' + RULES,
    "model.py": "import torch\nfrom torch import nn\n\n\nclass Graph(nn.Module):\n"
    "    def forward(self, x: torch.Tensor, index: torch.Tensor, values: torch.Tensor):\n"
    "        return torch.zeros(9).index_add(0, torch.randint(0, 9, (50,)), values)\n",
    **{
        f"{name}.py": f"import torch\nfrom model import Graph\n\n\ndef main():\n    torch.manual_seed(0)\n{mode}"
        "    model = Graph().cuda()\n    optimizer = torch.optim.SGD(model.parameters())\n"
        "    model(1, 2, 3).sum().backward()\n    optimizer.step()\n\n\n"
        'if __name__ == "__main__":\n    main()\n'
        for name, mode in (("steady", "    torch.use_deterministic_algorithms(True)\n"), ("quick", ""))
    },
}
"""Two programs that share a model, one with the determinism mode on."""

COMMANDS = {
    "pyproject.toml": RULES,
    "tool.py": "import click\nimport torch\n\n\n@click.group()\ndef cli():\n    torch.manual_seed(0)\n\n\n"
    "@cli.command()\ndef train():\n    print(torch.rand(3))\n\n\n@cli.command()\ndef predict():\n"
    '    print(torch.ones(3))\n\n\nif __name__ == "__main__":\n    cli()\n',
}


def notebook(*cells: str) -> str:
    """A notebook with these code cells."""
    written: list[dict[str, object]] = [
        {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": cell} for cell in cells
    ]
    python = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return json.dumps({"cells": written, "metadata": python, "nbformat": 4, "nbformat_minor": 5})


NOTEBOOK = {
    "torchlint.toml": RULES.partition("\n")[2],
    "study.ipynb": notebook(
        "import numpy as np\nimport torch\nfrom torch import nn",
        "%env PYTHONHASHSEED=0\ntorch.manual_seed(0)\ndata = np.random.rand(8, 4)",
        "model = nn.Linear(4, 1)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "model(torch.ones(8, 4)).mean().backward()\noptimizer.step()",
    ),
}


def write(project: dict[str, str], folder: Path) -> Path:
    """Write a project into a folder of its own, and return that."""
    (folder / ".git").mkdir(parents=True, exist_ok=True)
    for name, text in project.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder
