from __future__ import annotations

import sys
from pathlib import Path

import pytest

from torchlint.engine.run import RunOptions
from torchlint.verify.command_run import verify_command
from torchlint.verify.data import Result, Verification
from torchlint.verify.options import VerifyOptions
from torchlint.verify.places import parse_place
from torchlint.verify.run import Planned, plan

MODEL = """\
import torch
import torch.nn.functional as F
from torch import nn


class Padded(nn.Module):
    def __init__(self):
        super().__init__()
        self.pad = nn.ReplicationPad2d(1)

    def forward(self, x):
        return self.pad(x * 1.0)


class Mirrored(nn.Module):
    def __init__(self):
        super().__init__()
        self.pad = nn.ReflectionPad2d(1)

    def forward(self, x):
        return self.pad(x * 1.0)


class Grown(nn.Module):
    def forward(self, x):
        return F.interpolate(x, scale_factor=2, mode="bilinear")


class Spread(nn.Module):
    def forward(self, values, index):
        return torch.zeros(9).index_add(0, index, values)


def image():
    return torch.ones(1, 2, 6, 6, requires_grad=True)


def step(module, *inputs):
    module(*inputs).sum().backward()
"""
PADDED, MIRRORED, GROWN, SPREAD = "TL101", "TL102", "TL103", "TL106"
"""The one finding of each class."""


class Project:
    """A folder with `model.py` and what a test adds; commands run in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.write("model.py", MODEL)

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def planned(self, path: str = "model.py") -> Planned:
        return plan([parse_place(path)], VerifyOptions(check=RunOptions(isolated=True)))

    def verify(self, *command: str, path: str = "model.py", seconds: float | None = None) -> Verification:
        return verify_command(self.planned(path), command, seconds=seconds)

    def python(self, program: str, *options: str) -> dict[str, Result]:
        """The verdicts on `model.py`, by rule, of a program that has all of it at hand."""
        self.write("program.py", f"from model import *\n{program}")
        return by_rule(self.verify(sys.executable, *options, "program.py"))


def by_rule(found: Verification) -> dict[str, Result]:
    return {result.finding.code: result for result in found.results}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path)
