"""What each kind of file says of torch, one line at a time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from torchlint.project.outside import Outside
from torchlint.project.requirements.manifests import Manifests

IMAGES = {"23.10": "2.1"}


def said(folder: Path, name: str, text: str, **beside: str) -> list[str]:
    """The specifiers that one manifest gives torch; `beside` are files that it may include."""
    for file, content in {name: text, **{key.replace("_", "."): value for key, value in beside.items()}}.items():
        (folder / file).write_text(content, encoding="utf-8")
    manifests = Manifests(folder, [folder / name], ["train.py"], lambda _: b"", IMAGES, Outside())
    pins = manifests.pins("train.py", "torch")
    return [] if pins is None else list(pins.specifiers)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("torch==2.1.0", ["==2.1.0"]),
        ("torch == 1.7.1+cu110  # for the old cards", ["==1.7.1"]),
        ("torch[opt-einsum]>=2.1,<2.4; python_version > '3.9'", [">=2.1,<2.4"]),
        ("Torch (>=1.13)", [">=1.13"]),
        ("torch==2.2.0 --hash=sha256:abcdef", ["==2.2.0"]),
        ("torch==2.4.0.dev20240601+cu121", ["==2.4.0"]),
        (
            "torch @ https://download.pytorch.org/whl/cu118/torch-2.1.0%2Bcu118-cp310-none-any.whl",
            ["==2.1.0"],
        ),
        ("https://download.pytorch.org/whl/cu100/torch-1.1.0-cp37-cp37m-linux_x86_64.whl", ["==1.1.0"]),
        ("./wheels/torch-1.4.0-cp36-cp36m-linux_x86_64.whl", ["==1.4.0"]),
        ("torch @ git+https://github.com/pytorch/pytorch.git@v2.0.1", ["==2.0.1"]),
        ("torch==2.0.1 ; sys_platform == 'linux'\ntorch==1.13.1 ; sys_platform == 'darwin'", ["==2.0.1", "==1.13.1"]),
        ("pytorch=1.4.0=py3.7_cuda10.1.243_cudnn7.6.3_0", ["==1.4.0.*"]),
        ("pytorch==1.4.0", ["==1.4.0"]),
        ("torch @ file:///home/conda/feedstock_root/build_artifacts/pytorch-recipe_1695/work", []),
        ("torch", []),
        ("# torch==1.0.0", []),
        ("torchvision==0.15.0\ntorch-scatter==2.1.0\ntorch_geometric==2.3", []),
        ("https://data.pyg.org/whl/torch_scatter-2.1.0-cp310-cp310-linux_x86_64.whl", []),
        ("--find-links https://download.pytorch.org/whl/torch_stable.html", []),
    ],
)
def test_a_line_of_requirements(tmp_path: Path, line: str, expected: list[str]) -> None:
    assert said(tmp_path, "requirements.txt", f"numpy\n{line}\n") == expected


def test_requirements_include_others_and_are_held_to_constraints(tmp_path: Path) -> None:
    found = said(
        tmp_path, "requirements-gpu.txt", "-r base.txt\n-c limits.txt\n", base_txt="torch>=1.10\n", limits_txt="torch<2"
    )
    assert found == [">=1.10", "<2"]


def test_requirements_as_powershell_writes_them(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("torch==1.13.1\n", encoding="utf-16")
    pins = Manifests(tmp_path, [tmp_path / "requirements.txt"], [], lambda _: b"", {}, Outside()).pins("a.py", "torch")
    assert pins is not None
    assert pins.specifiers == ("==1.13.1",)


def test_requirements_that_include_each_other_are_read_once(tmp_path: Path) -> None:
    assert said(tmp_path, "requirements.txt", "-r again.txt\n", again_txt="-r requirements.txt\ntorch==2.3.1") == [
        "==2.3.1"
    ]
    assert said(tmp_path, "requirements.txt", "-r gone.txt\n") == []


@pytest.mark.parametrize(
    ("constraint", "expected"),
    [
        ('"^2.1"', [">=2.1,<3"]),
        ('"^0.4"', [">=0.4,<0.5"]),
        ('"~2.1.2"', [">=2.1.2,<2.2"]),
        ('"~=2.1"', ["~=2.1"]),
        ('"2.1.0"', ["==2.1.0"]),
        ('"2.1.*"', ["==2.1.*"]),
        ('">=1.13,<2.3 "', [">=1.13,<2.3"]),
        ('"^1.13 || ^2.0"', [">=1.13,<2", ">=2.0,<3"]),
        ('"*"', []),
        ('{ version = "^2.2", source = "pytorch-cu118" }', [">=2.2,<3"]),
        ('{ url = "https://download.pytorch.org/whl/torch-2.1.2-cp311-none-macosx_11_0_arm64.whl" }', ["==2.1.2"]),
        ('{ git = "https://github.com/pytorch/pytorch", tag = "v1.12.1" }', ["==1.12.1"]),
        ('[{ version = "2.1.0", markers = "a" }, { version = "2.0.1", markers = "b" }]', ["==2.1.0", "==2.0.1"]),
    ],
)
@pytest.mark.parametrize(
    "table", ["tool.poetry.dependencies", "tool.poetry.group.train.dependencies", "tool.poetry.dev-dependencies"]
)
def test_poetry(tmp_path: Path, table: str, constraint: str, expected: list[str]) -> None:
    found = said(tmp_path, "pyproject.toml", f'[{table}]\npython = "^3.10"\ntorch = {constraint}\n')
    assert found == expected


@pytest.mark.parametrize(
    "text",
    [
        '[project]\ndependencies = ["numpy", "torch==2.2.0"]\n',
        '[project.optional-dependencies]\ngpu = ["torch==2.2.0"]\n',
        '[dependency-groups]\ntrain = ["torch==2.2.0", {include-group = "dev"}]\n',
        '[tool.pdm.dev-dependencies]\ntrain = ["torch==2.2.0"]\n',
        '[tool.uv]\ndev-dependencies = ["torch==2.2.0"]\n',
        '[tool.uv]\nconstraint-dependencies = ["torch==2.2.0"]\n',
        '[tool.uv.sources]\ntorch = { url = "https://host/torch-2.2.0+cu121-cp311-cp311-linux_x86_64.whl" }\n',
    ],
)
def test_the_tables_of_a_pyproject(tmp_path: Path, text: str) -> None:
    assert said(tmp_path, "pyproject.toml", text) == ["==2.2.0"]


@pytest.mark.parametrize("text", ["[project", "tool = 3\n", '[project]\ndependencies = "torch==2.0"\n', "[tool.uv]\n"])
def test_a_broken_pyproject_says_nothing(tmp_path: Path, text: str) -> None:
    assert said(tmp_path, "pyproject.toml", text) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("uv.lock", '[[package]]\nname = "torch"\nversion = "2.6.0+cu124"\nsource = { registry = "x" }\n'),
        ("poetry.lock", '[[package]]\nname = "torch"\nversion = "2.6.0"\ndescription = ""\n'),
        ("pdm.lock", '[[package]]\nname = "torch"\nversion = "2.6.0"\nrequires_python = ">=3.8"\n'),
        ("pylock.toml", '[[packages]]\nname = "torch"\nversion = "2.6.0"\n'),
        ("Pipfile.lock", json.dumps({"default": {"torch": {"version": "==2.6.0"}}})),
        ("Pipfile", '[packages]\nnumpy = "*"\ntorch = "==2.6.0"\n'),
        ("Pipfile", '[dev-packages]\ntorch = {version = "==2.6.0", index = "pytorch"}\n'),
        ("setup.cfg", "[options]\ninstall_requires =\n    numpy\n    torch==2.6.0\n"),
        ("setup.py", 'from setuptools import setup\nsetup(install_requires=["numpy", "torch==2.6.0"])\n'),
        ("environment.yml", "dependencies:\n  - python=3.11\n  - pip:\n    - torch==2.6.0\n"),
        ("env.yaml", 'dependencies:\n  - "pytorch::pytorch==2.6.0"\n'),
        ("Dockerfile", "FROM pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime\nCOPY . .\n"),
        ("Dockerfile.gpu", "FROM --platform=linux/amd64 docker.io/pytorch/pytorch:2.6.0-cuda12.4-cudnn9-devel AS base"),
        (
            "Dockerfile",
            'ARG PYTORCH="2.6.0"\nARG CUDA="12.4"\nFROM pytorch/pytorch:${PYTORCH}-cuda${CUDA}\n',
        ),
        (
            "Dockerfile",
            "FROM x\nRUN apt update && \\\n  pip3 install numpy \\\n    torch==2.6.0 && rm -r /y",
        ),
        ("Dockerfile", "FROM x\nENV TORCH=2.6.0\nRUN uv pip install --system torch==${TORCH} torchvision\n"),
        ("setup.sh", "#!/bin/sh\nset -e\npython -m pip install -U 'torch==2.6.0' -f https://x\n"),
        ("install.sh", "pip install -r requirements.txt; pip install torch==2.6.0+cu124 --index-url https://x/cu124\n"),
    ],
)
def test_other_files(tmp_path: Path, name: str, text: str) -> None:
    assert said(tmp_path, name, text) == ["==2.6.0"]


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ("pytorch=1.7", ["==1.7.*"]),
        ("pytorch=1.7.*", ["==1.7.*"]),
        ("pytorch=2", ["==2.*"]),
        ("pytorch=1.7.1=py3.8_cuda11.0.221_cudnn8.0.5_0", ["==1.7.1.*"]),
        ("pytorch 1.7.1", ["==1.7.1.*"]),
        ("pytorch==1.7.1", ["==1.7.1"]),
        ("pytorch>=1.7,<1.9  # not newer", [">=1.7,<1.9"]),
        ("pytorch-gpu=2.0", ["==2.0.*"]),
        ("conda-forge/linux-64::pytorch=2.0", ["==2.0.*"]),
        ("pytorch-cuda=11.8", []),
        ("pytorch-lightning=1.7", []),
        ("pytorch", []),
    ],
)
def test_an_item_of_a_conda_environment(tmp_path: Path, item: str, expected: list[str]) -> None:
    found = said(tmp_path, "environment.yml", f"dependencies:\n  - python=3.8\n  - {item}\n")
    assert found == expected


def test_a_conda_environment_includes_requirements(tmp_path: Path) -> None:
    text = "dependencies:\n  - pip\n  - pip:\n    - -r wanted.txt\n"
    assert said(tmp_path, "environment.yml", text, wanted_txt="torch==1.9.0\n") == ["==1.9.0"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("FROM nvcr.io/nvidia/pytorch:23.10-py3\n", ["==2.1.*"]),
        ("FROM nvcr.io/nvidia/pytorch:99.01-py3\n", []),
        ("FROM nvcr.io/nvidia/tritonserver:23.10-py3\n", []),
        ("FROM pytorch/pytorch:latest\n", []),
        ("FROM pytorch/torchserve:0.8.0-gpu\n", []),
        ("# FROM pytorch/pytorch:1.0-cuda10.0-cudnn7-runtime\nFROM ubuntu\n", []),
        ("FROM ubuntu\n# RUN pip install torch==1.0.0\nRUN echo torch==1.1.0\n", []),
        ("FROM ubuntu\nRUN conda install -y -c pytorch pytorch=1.9 torchvision\n", ["==1.9.*"]),
    ],
)
def test_images(tmp_path: Path, text: str, expected: list[str]) -> None:
    assert said(tmp_path, "Dockerfile", text) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("conda install pytorch==1.9.0 torchvision cudatoolkit=10.2 -c pytorch", ["==1.9.0"]),
        ("mamba install -n lab pytorch=1.12", ["==1.12.*"]),
        ('pip install "torch>=1.7" tqdm', [">=1.7"]),
        ("pip install torch==1.8.0 # torch==1.9.0", ["==1.8.0"]),
        ("pip install 'torch==1.8.0; python_version < \"3.9\"' && pip install x", ["==1.8.0"]),
        ("pip download torch==1.8.0", []),
        ("pip install torch==1.8.0 it's", ["==1.8.0"]),
        ("pip install -e . && python train.py --torch==1.8", []),
    ],
)
def test_commands(tmp_path: Path, command: str, expected: list[str]) -> None:
    assert said(tmp_path, "prepare.sh", f"{command}\n") == expected


def notebook(*sources: str) -> bytes:
    cells = [{"cell_type": "code", "source": source.splitlines(keepends=True)} for source in sources]
    return json.dumps({"cells": [{"cell_type": "markdown", "source": "!pip install torch==1.0.0"}, *cells]}).encode()


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("!pip install torch==1.13.1 torchvision==0.14.1", ("==1.13.1",)),
        ("import os\n%pip install -q torch==1.13.1", ("==1.13.1",)),
        ("%conda install pytorch=1.13", ("==1.13.*",)),
        ("!python -m pip install \\\n  torch==1.13.1", ("==1.13.1",)),
        ("%%bash\nset -e\npip install torch==1.13.1", ("==1.13.1",)),
        ("# !pip install torch==1.13.1", ()),
        ("print('pip install torch==1.13.1')", ()),
    ],
)
def test_a_notebook_installs_for_itself(tmp_path: Path, cell: str, expected: tuple[str, ...]) -> None:
    sources = {"a.ipynb": notebook("import torch", cell), "b.ipynb": notebook("import torch")}
    manifests = Manifests(tmp_path, [], [*sources, "c.py"], sources.__getitem__, IMAGES, Outside())
    found = manifests.pins("a.ipynb", "torch")
    assert (found.specifiers if found else ()) == expected
    assert manifests.pins("b.ipynb", "torch") is None
    assert manifests.pins("c.py", "torch") is None


@pytest.mark.parametrize("data", [b"", b"{}", b"install torch", b'{"cells": [{"cell_type": "code"}]} install torch'])
def test_a_broken_notebook_installs_nothing(tmp_path: Path, data: bytes) -> None:
    assert Manifests(tmp_path, [], ["a.ipynb"], lambda _: data, IMAGES, Outside()).pins("a.ipynb", "torch") is None
