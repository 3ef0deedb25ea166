"""What is said of a package does not depend on the packages that lie beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlint.api import CheckOptions, check_paths, list_roots
from torchlint.config import Overrides

NET = """\
from torch import nn
from torch.nn import functional as F


class Up(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 1)

    def forward(self, x):
        return F.interpolate(self.conv(x), scale_factor=2, mode="bilinear")
"""
OTHER = """\
import os

import torch
from net import Up

os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
torch.use_deterministic_algorithms(True)
model = Up().to("xpu")
model(torch.ones(1, 3, 2, 2)).sum().backward()
torch.optim.SGD(model.parameters(), lr=0.1).step()
"""
OPTIONS = CheckOptions(Overrides(torch="2.13"), jobs=1)


def plant(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def said(*paths: Path) -> list[str]:
    found = check_paths(paths, OPTIONS).diagnostics
    return [
        f"{d.code} {d.message} {[one.message for one in d.related]}"
        for d in found
        if d.location.path.endswith("net/up.py")
    ]


@pytest.mark.parametrize(
    "record", ["net-1.0.dist-info/METADATA", "net-1.0-py3.10.egg-info", "other-2.0.dist-info/RECORD"]
)
@pytest.mark.parametrize("folder", ["lib/python3.11/site-packages", "unpacked"])
def test_a_package_is_judged_by_itself(tmp_path: Path, folder: str, record: str) -> None:
    package = {"net/__init__.py": "from net.up import Up\n", "net/up.py": NET}
    plant(tmp_path / "alone", package)
    plant(tmp_path / folder, {**package, record: "", "other/__init__.py": "", "other/train.py": OTHER, "run.py": OTHER})
    wanted = said(tmp_path / "alone" / "net")
    assert len(wanted) == 1
    beside = tmp_path / folder
    assert said(beside) == said(beside / "net") == said(beside / "net/up.py") == wanted
    assert said(beside / "other", beside / "net") == said(beside, beside / "net") == wanted


def test_each_package_is_a_root_and_modules_beside_are_alone(tmp_path: Path) -> None:
    folder = tmp_path / "site-packages"
    plant(folder, {"net/__init__.py": NET, "other/__init__.py": "", "six.py": "", "seven.py": "import six\n"})
    assert [root.settings.root for root in list_roots([folder], OPTIONS)] == [folder, folder / "net", folder / "other"]
    assert check_paths([folder], OPTIONS).files == check_paths([folder], CheckOptions()).files
    assert len(check_paths([folder], OPTIONS).files) == 4


@pytest.mark.parametrize("record", ["other-1.0.dist-info/RECORD", "other-1.0-py3.9.egg-info"])
def test_what_lies_in_a_folder_of_packages_is_no_fact_of_the_project(tmp_path: Path, record: str) -> None:
    package = {"other/__init__.py": "", "other/train.py": OTHER}
    own = {".git/HEAD": "", "requirements.txt": "torch\n", "net/__init__.py": "", "net/up.py": NET}
    plant(tmp_path / "alone", own)
    plant(tmp_path / "with", {**own, f"libs/{record}": "", **{f"libs/{name}": text for name, text in package.items()}})
    plant(tmp_path / "among", {**own, record: "", **package})
    wanted = said(tmp_path / "alone")
    assert len(wanted) == 1
    assert said(tmp_path / "with") == said(tmp_path / "with" / "net") == wanted
    assert said(tmp_path / "among") != wanted
