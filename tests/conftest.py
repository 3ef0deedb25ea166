"""What all tests share: those about one fixture run in one process, so that it is checked as it stands once."""

from __future__ import annotations

import re

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

_OF_A_FIXTURE = re.compile(r"\[(?P<rule>\w+)/[^\[\]]+\]$")
_OF_EVERYTHING = "tests/invariants/test_everything.py"


class LoadFixtures(LoadScopeScheduling):  # type: ignore[misc] - xdist has no types
    """Hands out the tests of a rule's fixtures together, those of the one large project too, and all others singly.

    The groups of `xdist_group` would be marks of items, which this scheduler's version does not see under each pytest.
    """

    def _split_scope(self, nodeid: str) -> str:
        fixture = _OF_A_FIXTURE.search(nodeid)
        if fixture is not None:
            return fixture["rule"]
        return _OF_EVERYTHING if nodeid.startswith(_OF_EVERYTHING) else nodeid


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFixtures:
    """The scheduler of every parallel run."""
    return LoadFixtures(config, log)
