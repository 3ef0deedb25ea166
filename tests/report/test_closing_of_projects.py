"""The closing line of small projects: what it counts, whom it names, and what it says of older releases."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness.programs import check
from torchlint.api import CheckOptions
from torchlint.config import Overrides
from torchlint.report.fixes import closing_line

_NETWORK = """\
import torch
from torch import nn


class Up(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Conv2d(3, 4, 3)
        self.up = nn.Upsample(scale_factor=2, mode="{mode}")

    def forward(self, x):
        return self.up(self.body(x))
"""
_TRAIN = """\
import torch
from network import Up


def main():
    torch.manual_seed(0)
    model = Up().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(torch.ones(1, 3, 8, 8).cuda()).sum().backward()
    optimizer.step()


if __name__ == "__main__":
    main()
"""
_PREDICT = """\
import torch
from network import Up

if __name__ == "__main__":
    print(Up().eval()(torch.ones(1, 3, 8, 8)))
"""


def _closing(folder: Path, files: dict[str, str], **overrides: object) -> str:
    for name, text in files.items():
        (folder / name).write_text(text)
    options = CheckOptions(overrides=Overrides(**overrides), jobs=1)  # type: ignore[arg-type]
    report = check(Path(), options=options)
    return "\n".join([*(note.message for note in report.notes), closing_line(report)])


@pytest.fixture(autouse=True)
def _inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_mode_is_one_act_of_the_program_that_trains(tmp_path: Path) -> None:
    files = {"network.py": _NETWORK.format(mode="bilinear"), "train.py": _TRAIN, "predict.py": _PREDICT}
    said = _closing(tmp_path, files, torch="2.13")
    assert said == "2 findings, 1 fix: turn the determinism mode on in train.py (fixes 2)"


def test_a_line_that_the_mode_would_refuse_has_its_own_fix(tmp_path: Path) -> None:
    files = {"network.py": _NETWORK.format(mode="bicubic"), "train.py": _TRAIN}
    said = _closing(tmp_path, files, torch="2.13")
    assert said == "2 findings, 2 fixes: replace the interpolation · turn the determinism mode on in train.py"


def test_a_library_is_told_nothing_of_the_mode(tmp_path: Path) -> None:
    (tmp_path / "nets").mkdir()
    package = {"nets/__init__.py": "", "nets/network.py": _NETWORK.format(mode="bilinear")}
    assert _closing(tmp_path, package, torch="2.13") == "1 finding, 1 fix: replace the interpolation"


def test_a_loose_file_may_be_run_by_something(tmp_path: Path) -> None:
    said = _closing(tmp_path, {"network.py": _NETWORK.format(mode="bilinear")}, torch="2.13")
    assert said == "1 finding, 1 fix: turn the determinism mode on"


def test_a_range_of_releases_is_told_what_each_would_do(tmp_path: Path) -> None:
    files = {"network.py": _NETWORK.format(mode="bilinear"), "train.py": _TRAIN}
    said = _closing(tmp_path, files, torch=">=2.0,<2.14")
    assert said.endswith("turn the determinism mode on in train.py (fixes 2; 1 line will raise on torch <= 2.0)")


def test_assuming_the_mode_counts_what_raises_on_older_releases(tmp_path: Path) -> None:
    files = {"network.py": _NETWORK.format(mode="bilinear"), "train.py": _TRAIN}
    said = _closing(tmp_path, files, torch=">=2.0,<2.14", assume_deterministic=True, ignore=("TL204",))
    assert said == (
        "with the determinism mode on: it would fix 0 findings, and 1 line would raise (1 on older releases alone)"
        "\n1 finding, 1 fix: require torch 2.1 or newer"
    )
