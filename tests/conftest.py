"""What all tests share: those about one rule run in one process, so that what they compare with is checked once."""

from __future__ import annotations

import re
import signal

import pytest
from hypothesis import HealthCheck, settings
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

_OF_A_RULE = re.compile(r"\[(?P<rule>TL\d{3}|\w+(?=/))")
"""`[TL401-direct]`, `[TL401/near_misses.py]`, `[programs/clean]`."""
_TOGETHER = ("tests/invariants/test_everything.py", "tests/verify/probes/test_repeat.py")
"""One checks all fixtures as a project, once; the other waits for races, which are rarer when two tests run them."""

settings.register_profile("torchlint", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("torchlint")  # a busy machine is no failure


@pytest.fixture(autouse=True, scope="session")
def _interrupts_arrive() -> None:
    """Also where a shell started the tests in the background: it ignores Ctrl-C for what it starts so."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


class LoadRules(LoadScopeScheduling):  # type: ignore[misc]
    """Hands out the tests of a rule together, those of some files too, and all others singly.

    Marks (`xdist_group`) would say the same, but they have no effect under pytest 9.2 with xdist 3.8.
    """

    def _split_scope(self, nodeid: str) -> str:
        rule = _OF_A_RULE.search(nodeid)
        if rule is not None:
            return rule["rule"]
        return next((path for path in _TOGETHER if nodeid.startswith(path)), nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadRules:
    """The scheduler of every parallel run."""
    return LoadRules(config, log)
