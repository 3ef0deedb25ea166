"""With `--isolated-facts` a file is judged as if it lay alone in an empty folder, whatever lies beside it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from torchlint.api import CheckOptions, check_paths
from torchlint.catalogue import load_catalogue
from torchlint.config import Overrides
from torchlint.report.context import Context
from torchlint.report.formats import render

TRAIN = """\
import os
import random

import torch
from torch import nn
from example import *

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
torch.use_deterministic_algorithms(True)
torch.backends.cudnn.benchmark = False
torch.manual_seed(0)
random.seed(0)
model = nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(torch.ones(2, 2)).mean().backward()
optimizer.step()
"""
BESIDE = {
    "train.py": TRAIN,
    "__init__.py": "",
    "requirements.txt": "torch==1.8.0\n",
    "Dockerfile": "FROM pytorch/pytorch:2.1.0-cuda12.1-cudnn8-runtime\nENV CUBLAS_WORKSPACE_CONFIG=:4096:8\n",
    "config.yaml": "model:\n  _target_: example.Model\nmode: bilinear\ndeterministic: true\n",
    "run.sh": "export PYTHONHASHSEED=0\npython -m torch.distributed.run train.py --device cpu\n",
    "kernel.cu": "__global__ void add(float* a) { atomicAdd(a, 1.0f); }\n",
    ".venv/lib/python3.11/site-packages/torch-2.3.0.dist-info/METADATA": "",
}
OPTIONS = CheckOptions(Overrides(select=("ALL",), isolated_facts=True), jobs=1)


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def said(paths: list[Path], name: str = "example.py", options: CheckOptions = OPTIONS) -> str:
    """All that a report says of one file, without the folder it lies in."""
    report = check_paths(paths, options)
    assert not report.internal_errors
    own = [found for found in json.loads("\n".join(render("json", report, Context()))) if found["path"].endswith(name)]
    folder = str(paths[0] if paths[0].is_dir() else paths[0].parent)
    return json.dumps(own, indent=1).replace(f"{folder}/", "")


@pytest.mark.parametrize("code", [code for code, rule in load_catalogue().rules.items() if rule.bad])
def test_the_example_of_a_rule_is_judged_alone(tmp_path: Path, code: str) -> None:
    bad = load_catalogue().rules[code].bad
    write(tmp_path / "alone", {"example.py": bad})
    write(tmp_path / "project" / "beside", {**BESIDE, "example.py": bad})
    write(
        tmp_path / "project",
        {"setup.py": "from setuptools import setup\nsetup(name='x', install_requires=['torch<2'])\n"},
    )
    alone, beside = tmp_path / "alone", tmp_path / "project" / "beside"
    wanted = said([alone / "example.py"])
    assert said([alone]) == wanted
    assert said([beside / "example.py"]) == wanted
    assert said([beside / "example.py", beside / "train.py"]) == wanted
    assert said([beside]) == wanted


def test_the_example_of_the_documents_is_found_beside_a_program(tmp_path: Path) -> None:
    write(tmp_path, {**BESIDE, "example.py": load_catalogue().rules["TL401"].bad})
    assert [found["code"] for found in json.loads(said([tmp_path]))] == ["TL401"]


@pytest.mark.parametrize("folder", ["tests", "examples/benchmarks", "pkg"])
def test_neither_folders_nor_packages_above_count(tmp_path: Path, folder: str) -> None:
    files = {"net.py": "import torch\n\n\ndef f(x):\n    return x.cuda() == torch.empty(2).cuda()\n"}
    write(tmp_path / "alone", files)
    write(tmp_path / "all" / folder, files)
    write(tmp_path / "all", {"requirements.txt": "torch==2.0\n", f"{folder}/__init__.py": ""})
    wanted = said([tmp_path / "alone" / "net.py"], "net.py")
    assert said([tmp_path / "all" / folder / "net.py"], "net.py") == wanted
    assert said([tmp_path / "all"], "net.py").replace(f"{folder}/", "") == wanted


def test_what_a_notebook_writes_is_its_own_file(tmp_path: Path) -> None:
    cells = ["import torch", "%%writefile train.py\nimport os\nimport random\nrandom.shuffle(os.listdir('.'))\n"]
    notebook = {
        "cells": [{"cell_type": "code", "source": text, "metadata": {}, "outputs": []} for text in cells],
        "metadata": {"language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    write(tmp_path / "alone", {"a.ipynb": json.dumps(notebook)})
    write(tmp_path / "beside", {"a.ipynb": json.dumps(notebook), "train.py": "x = 1\n"})
    assert said([tmp_path / "beside"], "a.ipynb") == said([tmp_path / "alone"], "a.ipynb") != "[]"


def test_ignores_of_the_configuration_and_the_baseline_are_those_of_the_root(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "torchlint.toml": '[per-file-ignores]\n"sub/quiet.py" = ["TL1"]\n"none/*" = ["TL1"]\n',
            "sub/quiet.py": load_catalogue().rules["TL101"].bad,
            "sub/loud.py": load_catalogue().rules["TL101"].bad,
        },
    )
    report = check_paths([tmp_path], OPTIONS)
    assert {(Path(d.location.path).name, d.code) for d in report.diagnostics if d.code in ("TL101", "TL002")} == {
        ("loud.py", "TL101"),
        ("torchlint.toml", "TL002"),
    }
    assert report.suppressed > 0
