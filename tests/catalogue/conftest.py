from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.catalogue.rules_copy import RULES, RulesCopy
from torchlint.catalogue import Catalogue, load, load_catalogue


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RulesCopy:
    root = tmp_path / "rules"
    shutil.copytree(RULES, root)
    monkeypatch.setattr(load, "catalogue_root", lambda: root)
    return RulesCopy(root)


@pytest.fixture(scope="session")
def catalogue() -> Catalogue:
    return load_catalogue()
