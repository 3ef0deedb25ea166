"""`check --show-settings`: each root that facts come from, and the torch that its files are judged for."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import pytest

from torchlint.cli import main

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setenv("HOME", str(tmp_path))
    return work


def plant(**files: str) -> None:
    """Write files; `__` in a name is a `/`, and a last `_` the dot of the suffix."""
    for name, text in files.items():
        stem, _, suffix = name.replace("__", "/").rpartition("_")
        path = Path(f"{stem}.{suffix}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def shown(capsys: Capture, *arguments: str) -> list[list[str]]:
    """The lines of each block."""
    with mock.patch("torchlint.project.outside.Outside.installed_torch", return_value=""):
        assert main(["check", "--show-settings", *arguments]) == 0
    return [block.splitlines() for block in capsys.readouterr().out.split("\n\n")]


def test_each_root_has_a_block(capsys: Capture, folder: Path) -> None:
    plant(a_py="", inner__b_py="", inner__torchlint_toml='select = ["TL101"]\n[per-file-ignores]\n"t/*" = ["TL10"]\n')
    first, second = shown(capsys)
    assert first[:2] == [f"root = {folder}", "config-file = not set"]
    told = "no torch release is pinned: the newest, and CUBLAS_WORKSPACE_CONFIG for 2.9 and older too"
    assert f"target-torch = 2.15 ({told})" in first
    assert second[:3] == [f"root = {folder}/inner", f"config-file = {folder}/inner/torchlint.toml", "selected = TL101"]
    assert "per-file-ignores = t/*: TL101 TL102 TL103 TL104 TL105 TL106 TL107 TL108 TL109" in second
    assert "min-severity = info" in second


def test_the_root_of_a_folder_without_a_file_is_shown(capsys: Capture, folder: Path) -> None:
    (block,) = shown(capsys)
    assert block[0] == f"root = {folder}"


def test_the_root_is_the_one_that_facts_come_from(capsys: Capture, folder: Path) -> None:
    plant(requirements_txt="torch==1.13.1\n", scripts__deep__train_py="")
    (block,) = shown(capsys, "scripts/deep/train.py")
    assert block[0] == f"root = {folder}"
    assert "target-torch = 1.13 (requirements.txt: torch==1.13.1)" in block


def test_each_torch_of_a_root_stands_with_its_file(capsys: Capture) -> None:
    plant(torchlint_toml="", old__a_py="", old__b_py="", new__c_py="")
    plant(old__requirements_txt="torch<2.1\n", new__pyproject_toml='[project]\ndependencies = ["torch>=2.14"]\n')
    (block,) = shown(capsys)
    assert [line for line in block if line.startswith("target-torch")] == [
        "target-torch = 2.14 to 2.15 (new/pyproject.toml: torch>=2.14; 1 file)",
        "target-torch = 1.0 to 2.0 (old/requirements.txt: torch<2.1; 2 files)",
    ]


def test_the_option_beats_the_manifests(capsys: Capture) -> None:
    plant(requirements_txt="torch==1.13.1\n", a_py="")
    (block,) = shown(capsys, "--torch", "2.6")
    assert "target-torch = 2.6 (torch==2.6.*, as configured)" in block
