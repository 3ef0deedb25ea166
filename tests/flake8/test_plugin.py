"""The plugin under real flake8: what it reports, what flake8's comments and options do to it, and when it works."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import clean_environment, run_torchlint

VARYING = """\
import os

import torch
from torch import nn

pad = nn.ReplicationPad2d(2)
labels = {name: index for index, name in enumerate(os.listdir("data"))}
"""
"""TL101 in line 6 and TL401 in line 7."""


def run_flake8(
    folder: Path, *arguments: str, stdin: bytes = b"", environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """`flake8` as its users run it, with no settings of this machine."""
    surroundings = clean_environment(HOME=str(folder), **(environment or {}))
    done = subprocess.run(
        [sys.executable, "-m", "flake8", *arguments],
        cwd=folder, input=stdin, capture_output=True, env=surroundings, check=False, timeout=300,
    )  # fmt: skip
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def places(done: subprocess.CompletedProcess[str]) -> list[str]:
    """`train.py:6 TL101` of each line."""
    return [
        f"{path}:{line} {code}"
        for path, line, code in re.findall(r"^(?:\./)?(\S+?):(\d+):\d+: (\w+)", done.stdout, re.MULTILINE)
    ]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(VARYING, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("arguments", [(), ("--select", "TL"), ("--extend-ignore", "E,W,F"), ("-j", "2")])
def test_it_says_what_check_says(project: Path, arguments: tuple[str, ...]) -> None:
    (project / "other.py").write_text(VARYING, encoding="utf-8")
    (project / "clean.py").write_text("import torch\n\nprint(torch.__version__)\n", encoding="utf-8")
    checked = run_torchlint("check", "--min-severity", "warning", ".", cwd=project)
    expected = re.findall(r"^(\S+:\d+:\d+: TL\d{3}) \w+: (.*)$", checked.stdout, re.MULTILINE)
    shown = run_flake8(project, *arguments)
    assert shown.returncode == 1
    assert shown.stderr == ""
    found = re.findall(r"^(?:\./)?(\S+:\d+:\d+: TL\d{3}) (.*)$", shown.stdout, re.MULTILINE)
    assert sorted(found) == sorted(expected)
    assert len(found) == 4


def test_facts_of_the_project_count(project: Path) -> None:
    """The mode that another file turns on is the mode of the file that is asked about."""
    (project / "train.py").write_text("from torch import nn\n\npad = nn.ReplicationPad2d(2)\n", encoding="utf-8")
    assert places(run_flake8(project, "--select", "TL", "train.py")) == ["train.py:3 TL101"]
    (project / "main.py").write_text(
        "import torch\n\nimport train\n\nif __name__ == '__main__':\n"
        "    torch.use_deterministic_algorithms(True)\n    print(train.pad)\n",
        encoding="utf-8",
    )
    assert "TL101" not in run_torchlint("check", "train.py", cwd=project).stdout
    assert places(run_flake8(project, "--select", "TL", "train.py")) == []


def test_comments_of_both_silence(project: Path) -> None:
    text = VARYING.replace("2)\n", "2)  # noqa: TL101\n").replace('"data"))}', '"data"))}  # torchlint: ignore[TL401]')
    (project / "train.py").write_text(text, encoding="utf-8")
    assert places(run_flake8(project, "--select", "TL")) == []


def test_a_comment_that_silences_nothing_is_flake8s_business(project: Path) -> None:
    (project / "train.py").write_text("import torch  # noqa: TL401\nprint(torch)\n", encoding="utf-8")
    assert "TL002" in run_torchlint("check", ".", cwd=project).stdout
    assert places(run_flake8(project, "--select", "TL")) == []


def test_settings_of_flake8_hold(project: Path) -> None:
    (project / "setup.cfg").write_text(
        "[flake8]\nselect = TL\nper-file-ignores =\n    train.py: TL101\n", encoding="utf-8"
    )
    assert places(run_flake8(project)) == ["train.py:7 TL401"]


def test_settings_of_torchlint_hold(project: Path) -> None:
    (project / "torchlint.toml").write_text('ignore = ["TL101"]\n', encoding="utf-8")
    assert places(run_flake8(project, "--select", "TL")) == ["train.py:7 TL401"]


def test_a_rule_that_is_off_runs_when_it_is_named(project: Path) -> None:
    text = """\
from torch import LongTensor, Tensor, nn


class Lookup(nn.Module):
    def forward(self, table: Tensor, ids: LongTensor) -> Tensor:
        return table.float()[ids].sum(0)
"""
    (project / "train.py").write_text(text, encoding="utf-8")
    assert places(run_flake8(project, "--select", "TL", "--torchlint-min-severity", "info")) == []
    named = run_flake8(project, "--select", "TL107", "--torchlint-min-severity", "info")
    assert places(named) == ["train.py:6 TL107"]


def test_notes_are_reported_when_asked_for(project: Path) -> None:
    (project / "train.py").write_text(
        "from torch import nn\nnet = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))\n", encoding="utf-8"
    )
    assert places(run_flake8(project, "--select", "TL")) == []
    (project / ".flake8").write_text("[flake8]\nselect = TL\ntorchlint-min-severity = info\n", encoding="utf-8")
    assert places(run_flake8(project)) == ["train.py:2 TL601"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1"])
def test_text_from_standard_input_is_checked_as_it_is(project: Path, encoding: str) -> None:
    cookie = "# -*- coding: latin-1 -*-\n" if encoding == "latin-1" else "# é\n"
    text = f"{cookie}{VARYING}unsaved = 'é'; pad = nn.ReplicationPad2d(3)\n"
    shown = run_flake8(project, "--select", "TL", "--stdin-display-name", "train.py", "-", stdin=text.encode(encoding))
    assert places(shown) == ["train.py:7 TL101", "train.py:8 TL401", "train.py:9 TL101"]
    assert ":9:22:" in shown.stdout


@pytest.mark.parametrize("cookie", ["no-such-encoding", "ascii"])
def test_text_whose_cookie_is_wrong_is_checked_all_the_same(project: Path, cookie: str) -> None:
    text = f"# -*- coding: {cookie} -*-\n{VARYING}# é\n"
    shown = run_flake8(project, "--select", "TL", "--stdin-display-name", "train.py", "-", stdin=text.encode())
    assert shown.stderr == ""
    assert [place.partition(" ")[2] for place in places(shown)] == ["TL001"], "as torchlint check says"


def test_other_files_are_not_asked_twice(project: Path) -> None:
    """Files are checked once, before flake8's processes begin, and kept for the next run."""
    for index in range(4):
        (project / f"part{index}.py").write_text(VARYING, encoding="utf-8")
    first = run_flake8(project, "--select", "TL", "-j", "3")
    assert len(places(first)) == 10
    assert (project / ".torchlint_cache").is_dir()
    assert run_flake8(project, "--select", "TL", "-j", "1").stdout == first.stdout


def test_nothing_is_checked_where_nothing_can_be_reported(project: Path) -> None:
    assert places(run_flake8(project, "--select", "E9")) == []
    assert not (project / ".torchlint_cache").exists()


def test_settings_that_cannot_be_read_end_the_run(project: Path) -> None:
    (project / "torchlint.toml").write_text("selct = []\n", encoding="utf-8")
    ended = run_flake8(project, "--select", "TL")
    assert ended.returncode == 1
    assert "torchlint: " in ended.stdout + ended.stderr
    assert "did you mean `select`?" in ended.stdout + ended.stderr


def test_a_file_that_does_not_parse_takes_no_other_down(project: Path) -> None:
    (project / "broken.py").write_text("def f(:\n", encoding="utf-8")
    shown = places(run_flake8(project, "--select", "TL,E999"))
    assert shown == ["broken.py:1 E999", "train.py:6 TL101", "train.py:7 TL401"]
