"""A project that pins no torch is told one story: what it is judged for, once, in the closing line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest

from torchlint.api import CheckOptions, check_paths
from torchlint.config import Overrides
from torchlint.report.closing import closing_lines

FIXD = """\
import os
import random
import sys

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
np.random.seed(0)
random.seed(0)
torch.use_deterministic_algorithms(True)
torch.backends.cudnn.benchmark = False

folder = sys.argv[1]
class_of = {name: index for index, name in enumerate(sorted(os.listdir(folder)))}
"""
NET = """

class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.stem = nn.Conv2d(3, 64, 3)
        self.conv = nn.Conv2d(64, 64, 3, padding=1, padding_mode="replicate")
        self.norm = nn.BatchNorm2d(64)
        self.head = nn.Linear(64, classes)

    def forward(self, x):
        x = self.norm(self.conv(self.stem(x))).relu()
        return self.head(x.mean(dim=(2, 3)))


model = Net(2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(torch.ones(2, 3, 8, 8).cuda()).sum().backward()
optimizer.step()
"""
MODE_OFF = f"import torch\nfrom torch import nn\n\ntorch.manual_seed(0)\n{NET}"
NO_VARIABLE = MODE_OFF.replace("torch.manual_seed(0)", "torch.manual_seed(0)\ntorch.use_deterministic_algorithms(True)")
REMOVED = "import torch\n\ntorch.set_deterministic(True)\n"
LISTING = "import os\n\nimport torch\n\nclass_of = {name: index for index, name in enumerate(os.listdir('a'))}\n"


@pytest.fixture(autouse=True)
def _bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No torch is installed beside the tests."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    with mock.patch("torchlint.project.outside.Outside.installed_torch", return_value=""):
        yield


def said(text: str, torch: str | None = None, codes: str = "TL1,TL2,TL3,TL4") -> tuple[list[str], str]:
    """The messages, and the closing line."""
    Path("train.py").write_text(text, encoding="utf-8")
    report = check_paths(
        [Path("train.py")], CheckOptions(Overrides(torch=torch, select=tuple(codes.split(","))), jobs=1)
    )
    closing, *pointer = closing_lines(report, failing=len(report.diagnostics))
    assert all("torchlint audit" in line or "--fix" in line for line in pointer)
    return [found.message for found in report.diagnostics], closing


@pytest.mark.parametrize("torch", [None, "2.15", "2.10", "2.9", "2.3", ">=2.2"])
@pytest.mark.parametrize(
    "variable",
    [
        'os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")',
        'os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":16:8"',
        'os.environ.update(CUBLAS_WORKSPACE_CONFIG=":4096:8")',
    ],
)
def test_a_fixed_program_is_clean_whatever_is_pinned(torch: str | None, variable: str) -> None:
    text = FIXD.replace('os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")', variable) + NET
    assert said(text, torch) == ([], "No findings in 1 file.")


def test_an_operator_names_no_release_that_nobody_named() -> None:
    (message,), closing = said(MODE_OFF, codes="TL101")
    assert message.endswith("varies between runs on CUDA (determinism mode off)")
    assert closing.endswith(" (no torch release is pinned: judged for 2.15; pin one or pass --torch)")
    (message,), closing = said(MODE_OFF, "2.13", codes="TL101")
    assert message.endswith("varies between runs on CUDA (determinism mode off, torch 2.13)")
    assert "pinned" not in closing


def test_the_variable_is_asked_for_on_the_releases_that_ask() -> None:
    (message,), closing = said(NO_VARIABLE, codes="TL204")
    assert message.startswith("CUBLAS_WORKSPACE_CONFIG is set nowhere. The determinism mode needs it on torch <= 2.9: ")
    assert closing.endswith(
        " (no torch release is pinned: judged for 2.15, CUBLAS_WORKSPACE_CONFIG for 2.9 and older too; "
        "pin one or pass --torch)"
    )
    assert said(NO_VARIABLE, "2.15", codes="TL204") == ([], "No findings in 1 file.")


def test_of_several_findings_one_story_is_told() -> None:
    bicubic = NO_VARIABLE.replace("self.norm(", "nn.functional.interpolate(x, scale_factor=2, mode='bicubic') + (")
    messages, closing = said(bicubic + "\nos = torch.kthvalue(model(x), 1)\n", codes="TL1,TL2")
    assert not [message for message in messages if "2.15" in message]
    assert closing.count("pinned") == closing.count("2.15") == 1


def test_it_is_told_where_a_finding_hangs_on_the_release() -> None:
    for text, wanted in (REMOVED, True), (LISTING, False):
        messages, closing = said(text)
        assert messages
        assert ("no torch release is pinned" in closing) == wanted
        assert not any("2.15" in message for message in messages)
