"""What all tests share."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.harness.programs import Program


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Keep the tests of one fixture in one process, so that it is checked as it stands once, not in each process."""
    for item in items:
        callspec = getattr(item, "callspec", None)
        program = callspec.params.get("program") if callspec else None
        if isinstance(program, Program):
            item.add_marker(pytest.mark.xdist_group(program.name))
