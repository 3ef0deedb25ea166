"""All fixtures as one project, checked once: the tests that ask for it run in one process, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
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


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Keep the tests of the one project in one process."""
    for item in items:
        if "everything" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("everything"))
