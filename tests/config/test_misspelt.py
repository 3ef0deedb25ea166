"""What looks like a configuration and is none is said, with what to write."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlint.config import Overrides, load_settings, misspelt
from torchlint.errors import ConfigError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "a" / "b").mkdir(parents=True)
    return tmp_path / "a"


@pytest.mark.parametrize(
    ("text", "table"),
    [
        ("[tool.torchlnt]\nselect = []", "tool.torchlnt"),
        ("[tool.torch-lint]\nselect = []", "tool.torch-lint"),
        ('[ tool . "TorchLint" ]\nselect = []', "tool.TorchLint"),
        ("[tool.torchlinter.per-file-ignores]\na = []", "tool.torchlinter"),
        ("tool.torchilnt.select = []", "tool.torchilnt"),
        ("[torchlint]\nselect = []", "torchlint"),
        ("[tool.torchlint]\nselect = []\n[tool.torchlnt.verify]\n", "tool.torchlnt"),
    ],
)
def test_a_table_that_is_nearly_named_so(folder: Path, text: str, table: str) -> None:
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    said = (folder / "pyproject.toml", f"nothing reads the table `{table}`; did you mean `tool.torchlint`?")
    assert list(misspelt(folder)) == list(misspelt(folder / "b")) == [said]


@pytest.mark.parametrize(
    "text",
    [
        "[tool.torchlint]\nselect = []\n[tool.torchlint.per-file-ignores]\n",
        "[tool.torchfix]\n[tool.torchtnt]\n[tool.pylint]\n[tool.torch]\n[tool.pytest.ini_options]",
        '[project]\nname = "torchlnt"\ndependencies = ["torchlint"]',
        "# [tool.torchlnt]\n",
        "= no TOML [",
        "",
    ],
)
def test_other_tables_are_none(folder: Path, text: str) -> None:
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    assert list(misspelt(folder)) == []


def test_a_file_with_a_dot_before_its_name(folder: Path) -> None:
    (folder / ".torchlint.toml").touch()
    said = (folder / ".torchlint.toml", "nothing reads this file; did you mean `torchlint.toml`?")
    assert list(misspelt(folder / "b")) == [said]


def test_what_stands_above_the_configuration_is_not_looked_at(folder: Path) -> None:
    (folder / "pyproject.toml").write_text("[tool.torchlnt]", encoding="utf-8")
    (folder / "b" / "torchlint.toml").touch()
    assert list(misspelt(folder / "b")) == []


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("[tool.torchlint]\nselect = []", "tool"),
        ("[torchlint]\nselect = []", "torchlint"),
        ("tool.torchlint.select = []", "tool"),
        ("[torchlnt.per-file-ignores]\na = []", "torchlnt"),
        ("[TorchLint]", "TorchLint"),
    ],
)
def test_a_table_around_the_keys_of_the_own_file(folder: Path, text: str, key: str) -> None:
    (folder / "torchlint.toml").write_text(text, encoding="utf-8")
    with pytest.raises(
        ConfigError, match=f"torchlint.toml: `{key}`: in this file the keys stand at the top, in no table"
    ):
        load_settings(folder, Overrides())
