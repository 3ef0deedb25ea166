"""`torchlint init`: the configuration that it writes, and what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import tomli

from tests.cli.command import run_torchlint
from torchlint.catalogue import load_catalogue

PROGRAM = """\
import torch
from torch import nn

net = nn.Sequential(nn.Conv2d(1, 4, 3, padding_mode="replicate", padding=1), nn.BatchNorm2d(4)).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x in torch.utils.data.DataLoader([torch.ones(1, 8, 8)]):
    net(x.cuda()).sum().backward()
    optimizer.step()
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(PROGRAM, encoding="utf-8")
    return tmp_path


def test_without_a_pyproject_it_writes_its_own_file(project: Path) -> None:
    done = run_torchlint("init", cwd=project, environment={"VIRTUAL_ENV": ""})
    assert done.returncode == 0
    assert done.stdout.startswith("wrote torchlint.toml\n")
    assert set(tomli.loads((project / "torchlint.toml").read_text(encoding="utf-8"))) == {"torch"}
    assert run_torchlint("check", cwd=project).returncode == 1


@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_a_pyproject_gets_a_table_more_and_keeps_its_bytes(project: Path, end: str) -> None:
    before = '# é\n[project]\nname = "x"\ndependencies = ["torch>=2.1,<2.6"]'.replace("\n", end or "\n") + end
    file = project / "pyproject.toml"
    file.write_bytes(before.encode())
    done = run_torchlint("init", "--essential", cwd=project)
    assert done.stdout.startswith("wrote pyproject.toml\n")
    text = file.read_bytes().decode()
    assert text.startswith(before)
    assert ("\r\n" in text) == (end == "\r\n")
    assert text.count("\n") == text.count(end or "\n")
    table = tomli.loads(text)["tool"]["torchlint"]
    essential = [code for code, rule in load_catalogue().rules.items() if rule.essential]
    assert table == {"select": essential}, "the project itself says which torch"
    assert {"TL101", "TL201", "TL204", "TL501", "TL601"} <= set(essential)
    assert "2.1 to 2.5" in done.stdout


def test_it_says_what_was_found_and_what_comes_next(project: Path) -> None:
    shown = run_torchlint("init", str(project), cwd=project.parent).stdout
    assert f"programs  {project.name}/train.py" in shown
    assert re.search(r"^findings  \d in 1 file; [1-9] of them fail a run$", shown, re.MULTILINE)
    assert f"`torchlint check {project.name}`" in shown
    assert f"`torchlint baseline {project.name}`" in shown


def test_a_configuration_that_is_there_stays(project: Path) -> None:
    (project / "torchlint.toml").write_text('ignore = ["TL101"]\n', encoding="utf-8")
    done = run_torchlint("init", cwd=project)
    assert done.returncode == 2
    assert "torchlint.toml: holds a configuration already" in done.stderr
    assert (project / "torchlint.toml").read_text(encoding="utf-8") == 'ignore = ["TL101"]\n'


@pytest.mark.parametrize("text", ["tool = {ruff = {}}\n", "[project\n", "\xff"])
def test_a_pyproject_that_can_take_no_table_stays(project: Path, text: str) -> None:
    file = project / "pyproject.toml"
    file.write_bytes(text.encode("latin-1"))
    done = run_torchlint("init", cwd=project)
    assert done.returncode == 2
    assert "cannot take a table more" in done.stderr
    assert file.read_bytes() == text.encode("latin-1")


@pytest.mark.parametrize("arguments", [("train.py",), ("--preamble", "--essential")])
def test_wrong_usage(project: Path, arguments: tuple[str, ...]) -> None:
    assert run_torchlint("init", *arguments, cwd=project).returncode == 2
    assert not (project / "torchlint.toml").exists()
