"""The trees that are checked: pinned wheels of the package index, each unpacked alone."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_PROGRAM = """import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(10):
    optimizer.zero_grad()
    net(torch.rand(4, 3)).sum().backward()
    optimizer.step()
"""


@dataclass(frozen=True, slots=True)
class Tree:
    """`edited` is the file that is changed for "one file changed", and asked about alone, below the tree."""

    name: str
    wheels: tuple[str, ...]
    edited: str
    programs: tuple[tuple[str, str], ...] = ()
    """Files that are written beside, with their text."""


TREES = (
    Tree("kornia", ("kornia==0.9.0",), "kornia/filters/blur.py"),
    Tree("timm", ("timm==1.0.31",), "timm/layers/drop.py"),
    Tree("transformers", ("transformers==5.24.0",), "transformers/models/bert/modeling_bert.py"),
    Tree("mixed", ("networkx==3.5",), "train.py", (("train.py", _PROGRAM), ("requirements.txt", "torch==2.13.0\n"))),
)
"""`mixed` is a program beside some 600 files that know no torch."""


def unpacked(tree: Tree, work: Path) -> Path:
    """The folder of a tree; what is there from an earlier run is used again."""
    folder, wheels = work / "trees" / tree.name, work / "wheels"
    if not folder.is_dir():
        beside = folder.with_suffix(".part")
        shutil.rmtree(beside, ignore_errors=True)
        for wheel in _downloaded(tree.wheels, wheels):
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(beside)
        for name, text in tree.programs:
            (beside / name).write_text(text, encoding="utf-8")
        beside.rename(folder)
    return folder


def _downloaded(pins: Sequence[str], wheels: Path) -> list[Path]:
    command = (
        sys.executable,
        "-m",
        "pip",
        "download",
        "--no-deps",
        "--only-binary=:all:",
        "--quiet",
        "-d",
        str(wheels),
    )
    subprocess.run((*command, *pins), check=True)
    return [next(wheels.glob(f"{pin.replace('==', '-')}-*.whl")) for pin in pins]
