"""Limits stand still while a process waits for a processor, up to a multiple of them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from torchlint.recording import clock
from torchlint.recording.clock import PATIENCE, Deadline, Waiting, ends_in_time, waited, worked


class _Machine:
    """Seconds on the wall, and those of them in which a process waited."""

    def __init__(self) -> None:
        self.now = 100.0
        self.waited = 7.0

    def goes_on(self, seconds: float, waiting: float = 0.0) -> None:
        self.now += seconds
        self.waited += waiting


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> _Machine:
    made = _Machine()
    monkeypatch.setattr(clock, "monotonic", lambda: made.now)
    monkeypatch.setattr(clock, "waited", lambda *_: made.waited)
    return made


def _deadline(machine: _Machine, seconds: float) -> Deadline:
    return Deadline(seconds, lambda: machine.waited)


def test_on_an_idle_machine_a_limit_is_that_of_the_wall(machine: _Machine) -> None:
    deadline = _deadline(machine, 60)
    machine.goes_on(59)
    assert not deadline.is_over
    assert deadline.left == 1
    machine.goes_on(1)
    assert deadline.is_over


def test_what_was_waited_is_given_back(machine: _Machine) -> None:
    deadline = _deadline(machine, 60)
    machine.goes_on(200, waiting=150)
    assert not deadline.is_over
    assert deadline.left == 10
    assert deadline.share_waited == 0.75
    machine.goes_on(10)
    assert deadline.is_over


def test_a_process_that_sleeps_is_not_spared(machine: _Machine) -> None:
    deadline = _deadline(machine, 60)
    machine.goes_on(60)
    assert deadline.is_over


def test_no_limit_stands_still_for_ever(machine: _Machine) -> None:
    deadline = _deadline(machine, 60)
    machine.goes_on(60 * PATIENCE - 1, waiting=60 * PATIENCE - 1)
    assert not deadline.is_over
    machine.goes_on(1, waiting=1)
    assert deadline.is_over


def test_a_system_that_tells_nothing_has_the_clock_on_the_wall(machine: _Machine) -> None:
    deadline = Deadline(60, lambda: 0.0)
    machine.goes_on(60, waiting=60)
    assert deadline.is_over


def test_a_fork_that_waited_less_than_its_parent_has_no_less_time(machine: _Machine) -> None:
    deadline = _deadline(machine, 60)
    machine.waited = 0.0
    assert deadline.left == 60


def test_the_time_of_a_run_is_that_in_which_it_had_a_processor(machine: _Machine) -> None:
    start = worked()
    machine.goes_on(10, waiting=4)
    assert worked() - start == 6


def test_of_several_processes_the_one_that_waited_longest_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    told = {1: 5.0, 2: 0.5}
    monkeypatch.setattr(clock, "waited", lambda process: told[process])
    waiting = Waiting()
    assert waiting.since_last_look([1, 2]) == 5
    told |= {1: 5.25, 2: 3.5, 3: 1.0}
    assert waiting.since_last_look([1, 2, 3]) == 3
    assert waiting.since_last_look([]) == 0


@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="this system does not tell")
def test_the_system_tells_of_any_process_and_of_none_that_is_gone() -> None:
    assert 0 <= waited() <= waited() + waited(os.getpid())
    assert waited(2**22 + 1) == 0


def test_a_process_waits_with_the_one_that_it_waits_for(monkeypatch: pytest.MonkeyPatch) -> None:
    before, plain = waited(), clock.waited
    monkeypatch.setattr(clock, "waited", lambda process=None: 40.0 if process == 1 else plain(process))
    clock.waited_for(1)
    monkeypatch.undo()
    assert waited() - before >= 39.9  # a sum of floats: the last bits of 40 can be lost
    clock._of_children[0] -= 40


@pytest.mark.parametrize(
    ("program", "seconds", "ends"), [("pass", 300, True), ("import time; time.sleep(600)", 0.2, False)]
)
def test_a_process_that_does_not_end_is_ended(program: str, seconds: float, ends: bool) -> None:  # noqa: FBT001
    process = subprocess.Popen([sys.executable, "-S", "-c", program])
    assert ends_in_time(process, seconds) is ends
    assert process.returncode is not None
