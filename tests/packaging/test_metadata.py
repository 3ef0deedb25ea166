from __future__ import annotations

import re
from pathlib import Path

import pytest
import tomli
import yaml
from hatchling.metadata.core import ProjectMetadata
from hatchling.plugin.manager import PluginManager

from torchlint import __version__

REPOSITORY = Path(__file__).parents[2]
HOOKS = {hook["id"]: hook for hook in yaml.safe_load((REPOSITORY / ".pre-commit-hooks.yaml").read_text())}


def test_the_version_stands_once_in_each_place() -> None:
    project = tomli.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    assert project["version"] == __version__


def test_the_extras_are_those_promised() -> None:
    core = ProjectMetadata(str(REPOSITORY), PluginManager()).core
    assert set(core.optional_dependencies) == {"verify", "server", "docs", "watch", "notebook", "dev"}
    assert core.optional_dependencies["verify"] == ["numpy", "torch>=2.2"]
    assert not core.urls  # nothing is published that they could lead to
    assert not any(requirement.startswith("torch") for requirement in core.dependencies)
    assert core.license_expression == "MIT"


@pytest.mark.parametrize(
    "path",
    [
        "src/train.py",
        "nb.ipynb",
        "requirements.txt",
        "requirements-dev.txt",
        "deploy/requirements/gpu.txt",
        "pyproject.toml",
        "torchlint.toml",
        "Dockerfile",
        "docker/Dockerfile.gpu",
        "train.dockerfile",
        "run.sh",
        ".github/workflows/ci.yml",
        "environment.yaml",
        ".env",
        "tox.ini",
        "setup.cfg",
        "uv.lock",
        "Makefile",
    ],
)
def test_the_filter_of_the_project_hook_holds_what_can_spoil_a_program(path: str) -> None:
    assert re.search(HOOKS["torchlint-project"]["files"], path)


@pytest.mark.parametrize("path", ["README.md", "notes.txt", "a.pyc", "data.csv", "image.png", "shadow.py.txt"])
def test_the_filter_of_the_project_hook_leaves_out_the_rest(path: str) -> None:
    assert not re.search(HOOKS["torchlint-project"]["files"], path)


def test_the_hook_of_changed_files_respects_exclusions() -> None:
    hook = HOOKS["torchlint"]
    assert hook["entry"] == "torchlint check --force-exclude"
    assert hook["types_or"] == ["python", "jupyter"]
    assert hook["require_serial"] is True


def test_the_project_hook_always_runs() -> None:
    hook = HOOKS["torchlint-project"]
    assert hook["always_run"] is True  # a filter never sees a deleted file
    assert hook["pass_filenames"] is False
