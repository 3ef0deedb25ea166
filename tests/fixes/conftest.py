from __future__ import annotations

from pathlib import Path

import pytest

from tests.adoption.projects import Project, empty_project


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Project:
    """An empty project on torch 2.8."""
    return empty_project(tmp_path, monkeypatch, capsys, "2.8")
