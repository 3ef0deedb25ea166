"""Trees die with the last that asks for them: no collector runs during a check, and a large project has thousands."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from torchlint.api import CheckOptions, audit_paths, check_paths
from torchlint.facts.file import FileFacts
from torchlint.project import modules

FIXTURES = Path(__file__).parents[2] / "fixtures"
RULES = [FIXTURES / name for name in ("TL118", "TL301", "TL305", "TL401", "TL402", "TL404", "programs")]
_MOST = 4
"""A project may hold the tree that was asked last, and some folders of fixtures are projects of their own."""


def _living() -> set[str]:
    return {one.path for one in gc.get_objects() if type(one) is FileFacts}


@pytest.fixture
def _no_shelf(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shelves hold the last tree alone."""
    for most in ("_MOST_OF_TREES", "_LEAST_OF_TREES", "_MOST_OF_INTERFACES"):
        monkeypatch.setattr(modules, most, 0)


@pytest.mark.usefixtures("_no_shelf")
def test_no_tree_outlives_its_questions() -> None:
    gc.collect()
    gc.disable()
    try:
        check_paths(RULES, CheckOptions(jobs=1))
        audit_paths([str(FIXTURES / "programs")], CheckOptions(jobs=1))
        check_paths([FIXTURES / "TL101"], CheckOptions(jobs=1))
        assert len(_living()) <= _MOST
    finally:
        gc.enable()
