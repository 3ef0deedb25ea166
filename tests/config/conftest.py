from __future__ import annotations

from pathlib import Path

import pytest

from tests.config.stub_catalogue import make_catalogue
from torchlint.config import settings


@pytest.fixture(autouse=True)
def _stub_catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    settings._combine.cache_clear()
    catalogue = make_catalogue()
    monkeypatch.setattr(settings, "load_catalogue", lambda _extensions=None: catalogue)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project in a home folder of its own."""
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / "project"
    folder.mkdir()
    return folder
