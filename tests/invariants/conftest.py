"""All fixtures as one project, checked once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.invariants.samples import all_in_one, run_over
from torchlint.diagnostics import Report


@pytest.fixture(scope="session")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the project."""
    folder = tmp_path_factory.mktemp("everything")
    all_in_one().write(folder)
    return folder


@pytest.fixture(scope="session")
def whole(everything: Path) -> Report:
    """What all rules say of it."""
    return run_over(everything)
