"""The examples of docs/api.md, run as they stand there."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import clean_environment
from torchlint import api

PAGE = Path(__file__).parents[2] / "docs" / "api.md"
_EXAMPLE = re.compile(r"<!-- run: (\S+)(.*?) -->\n```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.DOTALL)
EXAMPLES = {name: (code, shown) for name, _, code, shown in _EXAMPLE.findall(PAGE.read_text(encoding="utf-8"))}
REPOSITORY = Path(__file__).parents[2]


def run(name: str, folder: Path, *arguments: str) -> str:
    """What an example prints."""
    (folder / name).write_text(EXAMPLES[name][0], encoding="utf-8")
    surroundings = clean_environment(PYTHONPATH=str(REPOSITORY), HOME=str(folder), RAY_USAGE_STATS_ENABLED="0")
    done = subprocess.run(
        [sys.executable, name, *arguments], cwd=folder, env=surroundings, capture_output=True, text=True, check=False,
        timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", [name for name, (_, shown) in EXAMPLES.items() if shown])
def test_it_prints_what_the_page_says(name: str, tmp_path: Path) -> None:
    assert run(name, tmp_path) == EXAMPLES[name][1]


def test_every_function_is_on_the_page() -> None:
    named = set(re.findall(r"^\| `(\w+)\(", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    assert named == {*api.__all__} - {"CheckOptions", "with_open_points"}


@pytest.mark.slow
def test_many_repositories_are_rows_and_none_takes_the_others_down(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="ray has no release for this Python")
    names = [f"repositories/{index}" for index in range(4)]
    for name in names:
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "model.py").write_text(
            "import torch\npad = torch.nn.ReplicationPad2d(2)\n", encoding="utf-8"
        )
    (tmp_path / names[1] / "torchlint.toml").write_text("selct = []\n", encoding="utf-8")
    (tmp_path / names[2] / "clean.py").write_text("x = 1\n", encoding="utf-8")
    rows = [json.loads(line) for line in run("many.py", tmp_path, *names).splitlines() if line.startswith("{")]
    assert [row["repository"] for row in rows] == names
    assert "did you mean `select`" in rows[1]["error"]
    assert {row.get("code") for row in rows} == {"TL101", None}
