"""A file that a notebook writes is a module of the project, with its places in the notebook."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from torchlint.api import CheckOptions, check_paths
from torchlint.config import Overrides
from torchlint.diagnostics import Report

MODEL = "%%writefile model.py\nfrom torch import nn\n\nlayer = nn.ReplicationPad2d(1)\n"
TRAIN = """%%writefile train.py
import random

import torch
from model import layer

if __name__ == "__main__":
    torch.manual_seed(0)
    weight = torch.nn.Linear(2, 2).cuda()
    random.shuffle([1, 2])
    weight(torch.ones(1, 2).cuda()).sum().backward()
    torch.optim.SGD(weight.parameters()).step()
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_notebook(path: Path, *cells: str) -> None:
    entries = [{"cell_type": "code", "source": text} for text in cells]
    path.write_text(json.dumps({"cells": entries, "metadata": {}}), encoding="utf-8")


def check(*paths: str, codes: tuple[str, ...] = ("TL001", "TL101", "TL301")) -> Report:
    options = CheckOptions(Overrides(select=codes, torch="2.13"), jobs=1)
    return check_paths([Path(path) for path in paths], options)


def places(report: Report) -> list[str]:
    return [f"{found.location} {found.code}" for found in report.diagnostics]


def test_a_written_module_is_checked_and_a_written_program_is_followed_into_it(folder: Path) -> None:
    write_notebook(folder / "course.ipynb", "x = 1", MODEL, TRAIN)
    report = check(".")
    assert places(report) == ["course.ipynb:cell 2:4:9 TL101", "course.ipynb:cell 3:8:5 TL301"]
    assert report.files == ("course.ipynb",)
    assert places(check("course.ipynb")) == places(report)


def test_a_file_beside_imports_what_a_notebook_writes(folder: Path) -> None:
    draws = "%%writefile draws.py\nimport random\n\n\ndef split(files):\n    random.shuffle(files)\n    return files\n"
    write_notebook(folder / "helpers.ipynb", draws)
    program = TRAIN.partition("\n")[2].replace("from model import layer", "from draws import split")
    (folder / "train.py").write_text(program.replace("random.shuffle(", "split("), encoding="utf-8")
    (found,) = check("train.py").diagnostics
    assert found.code == "TL301"
    assert "helpers.ipynb:cell 1:6" in found.message


def test_a_file_on_disk_is_checked_as_it_is_there(folder: Path) -> None:
    write_notebook(folder / "course.ipynb", MODEL)
    (folder / "model.py").write_text("\n\nfrom torch import nn\n\nlayer = nn.ReplicationPad1d(1)\n", encoding="utf-8")
    assert places(check(".")) == ["model.py:5:9 TL101"]


def test_two_notebooks_that_write_one_file_are_both_checked(folder: Path) -> None:
    for name in ("a.ipynb", "b.ipynb"):
        write_notebook(folder / name, MODEL)
    assert places(check(".")) == ["a.ipynb:cell 1:4:9 TL101", "b.ipynb:cell 1:4:9 TL101"]
    assert places(check("b.ipynb")) == ["b.ipynb:cell 1:4:9 TL101"]


def test_what_does_not_parse_is_told_at_its_cell(folder: Path) -> None:
    write_notebook(folder / "course.ipynb", "x = 1", "%%writefile bad.py\nx = 1\ndef (:\n")
    (found,) = check(".").diagnostics
    assert (found.code, found.location.cell, found.location.line) == ("TL001", 2, 3)


@pytest.mark.parametrize("pattern", ["model.py", "course.ipynb"])
def test_per_file_ignores_take_the_file_or_its_notebook(folder: Path, pattern: str) -> None:
    write_notebook(folder / "course.ipynb", MODEL)
    (folder / "torchlint.toml").write_text(f'per-file-ignores = {{ "{pattern}" = ["TL101"] }}\n', encoding="utf-8")
    assert places(check(".")) == []


def test_ignore_comments_hold_in_the_file_that_is_written(folder: Path) -> None:
    write_notebook(folder / "course.ipynb", MODEL.rstrip() + "  # torchlint: ignore[TL101]\n")
    assert places(check(".", codes=("TL002", "TL101"))) == []


@pytest.mark.parametrize(
    "cell",
    [
        "%%writefile -a train.py\n    return x\n",
        "%%writefile train.py --append\n  else:\n    x = 1\n",
        "%%file -a sub/train.py\n        self.x = (\n",
        "%%writefile run.sh\nfor i in 1 2; do echo $i; done",
        "%%writefile -a conf/x.yaml\n  a: b c",
        "%%file Makefile\nall:\n\techo a b",
        "%%writefile $name.py\nx y z",
        "%%bash\nfor i in 1 2; do echo $i; done",
        "\n%%bash --out found\nls -l x",
        "%%script bash\necho a b",
        "%%html\n<b>hi</b>",
        "%%spark.sql\nselect 1 from x",
        "%%python2\nprint 1",
        "%%cython -a\ncdef int x",
    ],
)
def test_what_is_no_python_of_the_notebook_is_silent(folder: Path, cell: str) -> None:
    write_notebook(folder / "course.ipynb", "import torch", cell, "torch.nn.ReplicationPad2d(1)")
    report = check(".")
    assert [(found.code, found.location.cell) for found in report.diagnostics] == [("TL101", 3)]
    assert not report.skipped


def test_a_file_that_a_notebook_writes_whole_has_to_parse(folder: Path) -> None:
    write_notebook(folder / "course.ipynb", "%%writefile train.py\nx = = 1\n")
    assert places(check(".")) == ["course.ipynb:cell 1:2:5 TL001"]
