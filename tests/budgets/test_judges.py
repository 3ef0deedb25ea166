"""How many files judges ask where a project has many that name a class: few of them say anything about the question."""

from __future__ import annotations

import os
from pathlib import Path
from unittest import mock

import pytest

from torchlint.api import CheckOptions, check_paths
from torchlint.project.answers import Interview
from torchlint.project.modules import ModuleIndex

FILES, FEW = 40, 4
_TRAINING = "loss = net(x).sum()\n    loss.backward()\n    torch.optim.SGD(net.parameters(), 0.1).step()\n"
_LAYERS = """from torch import nn


class Mlp(nn.Module):
    def __init__(self, width, norm_layer=None, **options):
        super().__init__()
        self.norm = norm_layer(width, **options)

    def forward(self, x):
        return self.norm(x)
"""
_LAYER_USER = "from layers import Mlp\nfrom torch import nn\n\n\ndef build():\n    return Mlp({n}, nn.LayerNorm)\n"
_BASE = """class Net:
    def load(self, names):
        self.unwanted_names = list(set(names))
        return self.unwanted_names
"""
_HEIR = "from layers import Net\n\n\nclass Net{n}(Net):\n    def width(self):\n        return {n}\n"
_READER = """from layers import Net


class Reader(Net):
    def tell(self):
        for name in self.unwanted_names:
            print(name)
"""
_SCALED = """import torch.nn.functional as F


def scaled(x, mode):
    return F.interpolate(x, scale_factor=2, mode=mode)
"""
_SCALING = """import torch
from step0 import op0

net = torch.nn.Linear(3, 3)


def forward(x):
    return op0(net(x), "bilinear")


loss = forward(torch.rand(3)).sum()
loss.backward()
torch.optim.SGD(net.parameters(), 0.1).step()
"""


def files_asked(root: Path) -> set[str]:
    """The files whose trees judges of a cold check ask."""
    asked: set[str] = set()
    answer = Interview.answer

    def counting(interview: Interview, path: str, *rest: object) -> object:
        asked.add(path)
        return answer(interview, path, *rest)  # type: ignore[arg-type]

    with mock.patch.object(Interview, "answer", counting):
        check_paths([root], CheckOptions(jobs=1))
    return asked


@pytest.mark.parametrize(
    ("layers", "user", "reader"),
    [(_LAYERS, _LAYER_USER, ""), (_BASE, _HEIR, _READER)],
    ids=["a layer that is handed over with options is no loss", "a field is read where it is named"],
)
def test_few_files_are_asked(tmp_path: Path, layers: str, user: str, reader: str) -> None:
    texts = {f"user{n}.py": user.format(n=n) for n in range(FILES)}
    texts |= {"layers.py": layers, "reader.py": reader, "requirements.txt": "torch==2.6.0\n"}
    texts["train.py"] = f"import torch\nfrom user1 import *\n\nif __name__ == '__main__':\n    {_TRAINING}"
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert len(files_asked(tmp_path)) <= FEW


@pytest.mark.skipif(not hasattr(os, "fork"), reason="what is counted in other processes reaches them by fork")
def test_no_process_reads_a_file_whole_for_what_others_ask_of_it(tmp_path: Path) -> None:
    """The way of a name leads through files of both: the process that checks a file tells the other of it."""
    texts = {f"step{n}.py": f"from step{n + 1} import op{n + 1} as op{n}\n" for n in range(FILES)}
    texts |= {f"step{FILES}.py": f"from ops import scaled as op{FILES}\n", "ops.py": _SCALED}
    texts |= {"train.py": _SCALING, "requirements.txt": "torch==2.6.0\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    log = tmp_path / "opened.txt"
    opened = ModuleIndex._opened

    def opening(modules: ModuleIndex, path: str) -> object:
        with log.open("a") as file:
            file.write(f"{path} {path in modules.interfaces}\n")
        return opened(modules, path)

    with mock.patch.object(ModuleIndex, "_opened", opening):
        check_paths([tmp_path], CheckOptions(jobs=2))
    assert {line.split()[1] for line in log.read_text().splitlines()} == {"True"}
