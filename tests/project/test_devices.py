"""Which devices a program is taken to run on, by what its code names."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import pytest

from tests.harness.programs import check
from torchlint import api
from torchlint.config import Overrides
from torchlint.facts.accelerators import devices_named
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


TALKING = "# as with cuda\n"
NAMING = "import torch\n\n\ndef place(x):\n    return x.cuda()\n"


@pytest.mark.parametrize(
    ("texts", "asked"),
    [
        ({"a.py": "x = 1\n", "train.py": TALKING}, {"train.py"}),
        ({"a.py": TALKING, "b.py": NAMING, "c.py": NAMING, "train.py": "import a, b, c\n"}, {"a.py", "b.py"}),
        ({"a.py": TALKING, "b.py": NAMING, "train.py": f"import a, b\n{NAMING}"}, {"train.py"}),
        ({"a.py": NAMING, "b.py": "where = 'hpu'\n", "train.py": f"import a, b\n{NAMING}"}, {"b.py", "train.py"}),
    ],
)
def test_files_are_asked_for_devices_until_one_names_cuda(
    texts: dict[str, str], asked: set[str], tmp_path: Path
) -> None:
    """What a text speaks of is known of all; of those that are left only what another accelerator may be in."""
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    with (tmp_path / "train.py").open("a", encoding="utf-8") as file:
        file.write(TRAINING.format(imports="", first="pass"))
    with mock.patch("torchlint.project.index.devices_named", side_effect=devices_named) as naming:
        check(tmp_path, options=api.CheckOptions(jobs=1))
    assert {call.args[0].path for call in naming.call_args_list} == asked


@pytest.mark.parametrize("talk", ["# with cuda, of course", '"""CUDA, or npu."""', "x = 1  # opens the device"])
def test_what_a_file_beside_says_of_devices_in_prose_moves_nothing(tmp_path: Path, talk: str) -> None:
    (tmp_path / "beside.py").write_text(talk, encoding="utf-8")
    assert codes(tmp_path, "import beside") == set()
