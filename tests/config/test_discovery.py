from __future__ import annotations

import os
from pathlib import Path

import pytest

from torchlint.config import find_config
from torchlint.errors import ConfigError

PYPROJECT = '[tool.torchlint]\nselect = ["ALL"]\n'


def test_the_nearest_file_counts(project: Path) -> None:
    inner = project / "src" / "inner"
    inner.mkdir(parents=True)
    (project / "torchlint.toml").touch()
    (project / "src" / "pyproject.toml").write_text(PYPROJECT)
    assert find_config(inner) == project / "src" / "pyproject.toml"
    assert find_config(project) == project / "torchlint.toml"


def test_torchlint_toml_beats_pyproject_in_the_same_folder(project: Path) -> None:
    (project / "pyproject.toml").write_text(PYPROJECT)
    (project / "torchlint.toml").touch()
    assert find_config(project) == project / "torchlint.toml"


@pytest.mark.parametrize("text", ["", "[project]\nname = 'x'\n", "not = TOML at all ["])
def test_a_pyproject_without_the_table_is_passed_over(project: Path, text: str) -> None:
    inner = project / "inner"
    inner.mkdir()
    (inner / "pyproject.toml").write_text(text)
    (project / "torchlint.toml").touch()
    assert find_config(inner) == project / "torchlint.toml"


def test_a_dependency_called_torchlint_is_no_configuration(project: Path) -> None:
    (project / "pyproject.toml").write_text("[project]\ndependencies = ['torchlint']\n")
    assert find_config(project) is None


def test_the_search_ends_with_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    inner = home / "project"
    inner.mkdir(parents=True)
    (tmp_path / "torchlint.toml").touch()
    monkeypatch.setenv("HOME", str(home))
    assert find_config(inner) is None
    (home / "torchlint.toml").touch()
    assert find_config(inner) == home / "torchlint.toml"


def test_the_search_ends_at_a_mount(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = project / "inner"
    inner.mkdir()
    (project / "torchlint.toml").touch()
    monkeypatch.setattr(os.path, "ismount", lambda path: Path(path) == inner)
    assert find_config(inner) is None


def test_a_broken_pyproject_that_speaks_of_torchlint_is_an_error(project: Path) -> None:
    (project / "pyproject.toml").write_text("[project]\nname = 'x'\n[tool.torchlint\n")
    with pytest.raises(ConfigError, match=r"pyproject\.toml:3: is not TOML"):
        find_config(project)


def test_an_edited_file_is_read_again(project: Path) -> None:
    file = project / "pyproject.toml"
    file.write_text("[project]\n")
    assert find_config(project) is None
    file.write_text(PYPROJECT)
    assert find_config(project) == file
