"""Which devices a program is taken to run on, by what its code names."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness.programs import check
from torchlint import api
from torchlint.config import Overrides
from torchlint.project.target import gpus_of, used_among

TRAINING = """
{imports}
import torch
import torch.nn.functional as F

if __name__ == "__main__":
    {first}
    model = torch.nn.Conv2d(3, 3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    F.interpolate(model(torch.rand(1, 3, 4, 4)), scale_factor=2, mode="bilinear").mean().backward()
    optimizer.step()
"""


def codes(folder: Path, imports: str = "", first: str = "pass", **overrides: tuple[str, ...]) -> set[str]:
    (folder / "train.py").write_text(TRAINING.format(imports=imports, first=first), encoding="utf-8")
    options = api.CheckOptions(jobs=1, overrides=Overrides(**overrides))  # type: ignore[arg-type]
    return {found.code for found in check(folder, options=options).diagnostics} & {"TL103"}


CUDA = {"TL103"}


@pytest.mark.parametrize(
    "first",
    [
        "pass  # .cuda() is for another day",
        "'''A remark about CUDA and its devices.'''",
        "print(torch.zeros(3, device=torch.ones(1).device))",
        "torch.zeros(3).to(torch.float16)",
        "inputs, outputs, maps = 1, 2, 3",
        "torch.zeros(3).to('cpu')",
    ],
)
def test_what_names_no_accelerator_stays_on_the_cpu(tmp_path: Path, first: str) -> None:
    assert codes(tmp_path, first=first) == set()


@pytest.mark.parametrize(
    "first",
    [
        "torch.zeros(3).cuda()",
        "torch.set_default_device('cuda:1')",
        "print(torch.backends.cudnn.version())",
        "place = input(); torch.zeros(3).to(place)",
        "options = {'gpus': 1}",
        "exec(input())",
        "print('no device is named')",
    ],
)
def test_whatever_may_choose_a_device_counts_as_cuda(tmp_path: Path, first: str) -> None:
    assert codes(tmp_path, first=first) == CUDA


@pytest.mark.parametrize("imports", ["import accelerate", "import lightning as L", "from lab import trainers"])
def test_a_library_that_may_choose_the_device_counts_as_cuda(tmp_path: Path, imports: str) -> None:
    assert codes(tmp_path, imports) == CUDA


@pytest.mark.parametrize("imports", ["import numpy as np", "import json, os.path", "from sklearn import metrics"])
def test_a_library_that_moves_nothing_does_not(tmp_path: Path, imports: str) -> None:
    assert codes(tmp_path, imports) == set()


def test_another_accelerator_stands_in_the_place_of_cuda(tmp_path: Path) -> None:
    assert codes(tmp_path, "import torch_npu", "torch.cuda.manual_seed_all(0)") == set()
    assert codes(tmp_path, first="torch.zeros(3, device='hpu')") == set()
    assert codes(tmp_path, "import torch_npu", "torch.zeros(3).to('cuda')") == CUDA


def test_the_configured_devices_beat_the_fact(tmp_path: Path) -> None:
    assert codes(tmp_path, devices=("cuda",)) == CUDA
    assert codes(tmp_path, first="torch.zeros(3).cuda()", devices=("cpu",)) == set()


@pytest.mark.parametrize(
    ("name", "text", "gpus"),
    [
        ("requirements.txt", "torch==2.9.1+rocm6.4\n", ("rocm",)),
        ("requirements.txt", "--index-url https://download.pytorch.org/whl/rocm6.4\ntorch\n", ("rocm",)),
        ("Dockerfile", "FROM rocm/pytorch:latest\n", ("rocm",)),
        (
            "Dockerfile",
            "RUN pip install torch --index-url https://download.pytorch.org/whl/nightly/rocm7.0\n",
            ("rocm",),
        ),
        ("requirements.txt", "torch==2.9.1+cu126\n# or torch==2.9.1+rocm6.4\n", ("cuda", "rocm")),
        ("requirements.txt", "torch==2.9.1\n", ("cuda",)),
        ("requirements.txt", "torch==2.9.1  # AMD: see the page on ROCm\n", ("cuda",)),
    ],
)
def test_the_build_of_torch_names_the_gpus(tmp_path: Path, name: str, text: str, gpus: tuple[str, ...]) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert gpus_of([tmp_path / name]) == gpus


def test_code_that_names_cuda_means_every_gpu() -> None:
    assert used_among(("rocm", "mps"), {"cuda"}) == ("rocm",)
    assert used_among(("cuda", "mps"), {"mps"}) == ("mps",)
