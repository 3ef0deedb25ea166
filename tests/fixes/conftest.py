from __future__ import annotations

from pathlib import Path

import pytest

from tests.adoption.projects import Project


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Project:
    """An empty project on torch 2.8."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(tmp_path))
    for variable in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(variable, raising=False)
    found = Project(folder, capsys)
    found.write({"torchlint.toml": 'torch = "2.8"\n'})
    return found
