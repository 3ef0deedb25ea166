"""A project that names neither torch nor a library that is known costs its syntax and its comments alone."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import pytest

from torchlint.api import CheckOptions, check_paths
from torchlint.catalogue import load_catalogue
from torchlint.engine.named_libraries import NamedLibraries

PLAIN = {
    "draw.py": "import time\nimport numpy as np\n\nnp.random.seed(int(time.time()))\n",
    "broken.py": "def broken(:\n",
    "ignoring.py": "import os\n\nprint(os.listdir('.'))  # torchlint: ignore[nothing-like-it]\n",
}
NAMING = {
    "an import": {"net.py": "import torch\n"},
    "a name at run time": {"net.py": "__import__('torch')\n"},
    "a manifest": {"requirements.txt": "torch==2.13\n"},
    "a script": {"run.sh": "python -m torch.distributed.run draw.py\n"},
    "an import over lines": {"net.py": "import os, \\\n  accelerate\n"},
    "a notebook with large outputs": {"net.ipynb": '{"cells": [], "metadata": {"x": "' + "x" * 2_000_001 + '"}}'},
    "another library": {"net.py": "from vllm import LLM\n"},
}


def codes(folder: Path, files: dict[str, str]) -> set[str]:
    (folder / ".git").mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return {found.code for found in check_paths([folder], CheckOptions(jobs=1)).diagnostics}


def test_what_cannot_be_read_is_said_and_nothing_else_is_asked(tmp_path: Path) -> None:
    with mock.patch("torchlint.engine.process_state.analyse") as analyse:
        assert codes(tmp_path / "plain", PLAIN) == {"TL001", "TL002"}
    assert analyse.call_count == 0


@pytest.mark.parametrize("naming", NAMING)
def test_whatever_names_torch_makes_the_whole_project_count(naming: str, tmp_path: Path) -> None:
    assert codes(tmp_path / "project", {**PLAIN, **NAMING[naming]}) >= {"TL001", "TL002", "TL302"}


@pytest.mark.parametrize("words", ["from ", "import ", "fla ", "from = fla ", "(\\\n", '" fla '])
def test_no_bytes_take_long_to_be_looked_through(words: str) -> None:
    """A search that goes back from each `from` would not end here."""
    named = NamedLibraries(load_catalogue())
    assert not named.are_in((words * 300_000).encode())
