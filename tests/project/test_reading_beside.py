"""A check of few files whose findings hang on many others says how many it read."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlint.api import CheckOptions, check_paths
from torchlint.config import Overrides

NET = "import torch.nn.functional as F\n\n\ndef up(x):\n    return F.interpolate(x, scale_factor=2, mode='bilinear')\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "net.py").write_text(NET)
    for number in range(101):
        (tmp_path / f"part{number}.py").write_text(f"PART = {number}\n")
    return tmp_path


def notes(path: Path, **options: bool) -> list[str]:
    report = check_paths([path], CheckOptions(overrides=Overrides(**options), jobs=1))  # type: ignore[arg-type]
    return [str(note) for note in report.notes if "were asked" in str(note)]


def test_one_file_of_many_says_so(folder: Path) -> None:
    [note] = notes(folder / "net.py")
    assert note.startswith(f"to check 1 file, 101 more under {folder} were asked")


def test_where_nothing_was_read_nothing_is_said(folder: Path) -> None:
    assert notes(folder) == []
    assert notes(folder / "part1.py") == []
    assert notes(folder / "net.py", isolated_facts=True) == []
    (folder / "part1.py").unlink()
    assert notes(folder / "net.py") == []
