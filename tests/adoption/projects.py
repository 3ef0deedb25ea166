"""Small projects under git, and the command line in this process."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from torchlint.cli.group import run

ASSIGNED = "torch.use_deterministic_algorithms = True"
"""TL201, an error."""
BENCHMARK = "torch.backends.cudnn.benchmark = True"
"""TL207, a warning, in programs that have a convolution to time."""
CONVOLUTION = "layer = torch.nn.Conv2d(3, 8, 3)"
BAD = f"import torch\n\n{ASSIGNED}\n{BENCHMARK}\n"


@dataclass(frozen=True)
class Project:
    """A folder that is the working directory, with `torchlint.toml` as its root."""

    root: Path
    capture: pytest.CaptureFixture[str]

    def write(self, files: Mapping[str, str | bytes]) -> None:
        for name, content in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)

    def torchlint(self, *arguments: str) -> tuple[int, str, str]:
        """Exit code, standard output and standard error."""
        self.capture.readouterr()
        code = run([*arguments])
        said = self.capture.readouterr()
        return code, said.out, said.err

    def found(self, *arguments: str) -> list[str]:
        """`path:line CODE` of each finding, in a notebook `path:cell:line CODE`."""
        _, out, _ = self.torchlint("check", "--output-format", "json-lines", "--jobs", "1", *arguments)
        objects = map(json.loads, out.splitlines())
        return [f"{_place(found)} {found['code']}" for found in objects]

    def git(self, *arguments: str) -> str:
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false", *arguments]
        return subprocess.run(command, cwd=self.root, capture_output=True, text=True, check=True).stdout

    def commit(self) -> None:
        self.git("init", "--quiet")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--no-verify", "--message", "state")


def empty_project(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[str], torch: str
) -> Project:
    """A project below a folder that is the home, on one torch, with no settings of this machine."""
    root = folder / "work"
    root.mkdir()
    monkeypatch.chdir(root)
    monkeypatch.setenv("HOME", str(folder))
    for variable in ("NO_COLOR", "FORCE_COLOR", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(variable, raising=False)
    project = Project(root, capture)
    project.write({"torchlint.toml": f'torch = "{torch}"\n'})
    return project


def _place(found: dict[str, Any]) -> str:
    cell = "" if found["cell"] is None else f"{found['cell']}:"
    return f"{found['path']}:{cell}{found['line']}"


def notebook(*cells: str, **extra: Any) -> str:  # noqa: ANN401 - JSON
    """A notebook with these code cells, one text cell on top and a convolution at the end, as Jupyter writes it."""
    text = {"cell_type": "markdown", "metadata": {}, "source": ["# Training\n", "of a model"]}
    output = {"name": "stdout", "output_type": "stream", "text": ["loss 0.5\n", "épochs 3"]}
    code = [
        {
            "cell_type": "code",
            "execution_count": 1,
            "metadata": {},
            "outputs": [output],
            "source": source.splitlines(keepends=True),
        }
        for source in (*cells, CONVOLUTION)
    ]
    content = {"cells": [text, *code], "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **extra}
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"
