"""Kept results: after any change of a project the answer is that of a run that keeps nothing."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from unittest import mock

import pytest

from torchlint.api import CheckOptions, check_paths
from torchlint.diagnostics import Report
from torchlint.engine import process_state
from torchlint.engine.kept_results import KeptResults

PROJECT = {
    "train.py": (
        "import random\nfrom zoo import build\nfrom tools.seeding import seed_all\nfrom data import *\n\n"
        "def main():\n    seed_all(3)\n    net = build('small').cuda()\n    random.shuffle(rows())\n"
        "    net(first()).sum().backward()\n\nif __name__ == '__main__':\n    main()\n"
    ),
    "zoo/__init__.py": (
        "from zoo.nets import Net\n\nKINDS = {'small': Net}\n\ndef build(kind):\n    return KINDS[kind]('bilinear')\n"
    ),
    "zoo/nets.py": (
        "import torch\nfrom torch import nn\nfrom tools.resizing import resize\n\nclass Net(nn.Module):\n"
        "    def __init__(self, mode):\n        super().__init__()\n        self.mode = mode\n"
        "        self.one = nn.Conv2d(3, 3, 3, padding=1, padding_mode='replicate')\n\n"
        "    def forward(self, x):\n        return resize(self.one(x), self.mode)\n"
    ),
    "tools/__init__.py": "",
    "tools/resizing.py": (
        "import torch.nn.functional as F\n\ndef resize(x, mode):\n"
        "    return F.interpolate(x, scale_factor=2, mode=mode)\n"
    ),
    "tools/seeding.py": "import torch\n\ndef seed_all(seed):\n    torch.manual_seed(seed)\n",
    "data/__init__.py": "from data.listing import rows, first\n",
    "data/listing.py": (
        "import os\nimport torch\n\ndef rows():\n    return os.listdir('rows')\n\n"
        "def first():\n    return torch.load(rows()[0])\n"
    ),
    "config.yaml": "mode: bilinear\n",
    "requirements.txt": "torch==2.6.0\n",
    "run.sh": "export PYTHONHASHSEED=0\npython train.py\n",
}


def write(folder: Path) -> Path:
    for name, text in PROJECT.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (folder / ".git").mkdir()
    return folder


def answer(folder: Path, kept: KeptResults | None) -> Report:
    return check_paths([folder], CheckOptions(jobs=1, kept=kept))


def _without_a_line(path: Path, other: Path, _: random.Random) -> None:
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[: len(lines) // 2] + lines[len(lines) // 2 + 1 :]))
    other.write_text(other.read_text() + "\n# read again\n")


def _gone(path: Path, _: Path, __: random.Random) -> None:
    path.unlink()


def _renamed(path: Path, _: Path, chance: random.Random) -> None:
    path.rename(path.with_name(f"r{chance.randrange(99)}_{path.name}"))


def _moved(path: Path, other: Path, _: random.Random) -> None:
    if not (other.parent / path.name).exists():
        path.rename(other.parent / path.name)


def _copied(path: Path, other: Path, chance: random.Random) -> None:
    (other.parent / f"n{chance.randrange(99)}.py").write_text(path.read_text())


def _importing_all(path: Path, other: Path, _: random.Random) -> None:
    path.write_text(f"from {other.stem} import *\n{path.read_text()}")


def _unreadable(path: Path, _: Path, __: random.Random) -> None:
    path.write_text(f"{path.read_text()}\ndef (:\n")


def _environment(path: Path, _: Path, chance: random.Random) -> None:
    root = next(folder for folder in path.parents if (folder / ".git").exists())
    (root / "requirements.txt").write_text(f"torch==2.{chance.randrange(1, 13)}.0\n")
    (root / "config.yaml").write_text(f"mode: {chance.choice(['nearest', 'bilinear'])}\n")


STEPS: tuple[Callable[[Path, Path, random.Random], None], ...] = (
    *(_without_a_line, _gone, _renamed, _moved, _copied, _importing_all, _unreadable, _environment),
)


@pytest.mark.parametrize("seed", range(6))
def test_after_any_change_the_answer_is_that_of_a_cold_run(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)  # noqa: S311 - edits that can be made again
    folder, kept = write(tmp_path / "project"), KeptResults()
    assert answer(folder, kept) == answer(folder, None)
    for _ in range(12):
        files = sorted(folder.rglob("*.py"))
        if len(files) < 2:
            break
        step = chance.choice(STEPS)
        one, other = chance.sample(files, 2)
        step(one, other, chance)
        assert answer(folder, kept) == answer(folder, None), step.__name__


def _read_again(folder: Path, kept: KeptResults) -> set[str]:
    """The files that a run analyses."""
    read: set[str] = set()
    analyse = process_state.ProcessState.check

    def counted(state: process_state.ProcessState, path: str) -> object:
        read.add(path)
        return analyse(state, path)

    with mock.patch.object(process_state.ProcessState, "check", counted):
        answer(folder, kept)
    return read


def test_a_file_is_read_again_with_those_that_asked_for_it(tmp_path: Path) -> None:
    folder, kept = write(tmp_path / "project"), KeptResults()
    answer(folder, kept)
    assert _read_again(folder, kept) == set()
    (folder / "tools/resizing.py").write_text(PROJECT["tools/resizing.py"] + "\n")
    assert _read_again(folder, kept) == {"tools/resizing.py", "zoo/__init__.py", "zoo/nets.py"}
    (folder / "train.py").write_text(PROJECT["train.py"] + "\n")
    assert _read_again(folder, kept) == {"train.py"}
    (folder / "requirements.txt").write_text("torch==2.5.0\n")
    assert len(_read_again(folder, kept)) == 8
    (folder / "new.py").write_text("")
    assert len(_read_again(folder, kept)) == 9


def test_what_is_too_large_and_what_notebooks_write_are_looked_at(tmp_path: Path) -> None:
    folder, kept = write(tmp_path / "project"), KeptResults()
    writing = {
        "cell_type": "code",
        "metadata": {},
        "outputs": [],
        "source": "%%writefile w.py\nimport torch\ntorch.x = 1",
    }
    other = {**writing, "source": "print(1)"}

    def notebook(*cells: Mapping[str, object], output: str = "") -> str:
        return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {"x": output}, "cells": cells})

    for text in (notebook(other, writing), notebook(other, other, writing), notebook(writing, output="x" * 2_100_000)):
        (folder / "nb.ipynb").write_text(text)
        assert answer(folder, kept) == answer(folder, None)
    for text in ("", "x = 1\n" * 400_000):
        (folder / "empty.py").write_text(text)
        assert answer(folder, kept) == answer(folder, None)
