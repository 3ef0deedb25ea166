"""Items go to processes in shares of about one size, and each is answered once, whatever dies."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from torchlint.engine import processes
from torchlint.engine.processes import Processes
from torchlint.engine.shares import Shares
from torchlint.engine.workers import Exchange


def chunks(sizes: list[int], number: int = 0, shares: int = 1) -> Iterator[list[int]]:
    """The sizes of what goes out together to one process, where the others take nothing."""
    found = Shares(sizes, sizes, shares)
    while chunk := found.next(number):
        yield chunk


def answered(items: list[int], jobs: int = 2) -> list[int]:
    """What processes say of numbers: their doubles; 666, 667 and 555 kill theirs, and are told as negative."""
    return sorted(Processes(_doubled, lambda item: -item, jobs, lambda item: item % 7).map(items))


def _doubled(item: int) -> int:
    if item in (666, 667):
        os._exit(3)
    if item == 555:
        raise ValueError(item)
    return 2 * item


def test_what_is_left_of_a_share_goes_out_in_ever_smaller_parts() -> None:
    assert [len(chunk) for chunk in chunks([1] * 60)] == [15, 11, 8, 6, 5, 3, 3, 2, *[1] * 7]


def test_no_part_is_smaller_than_a_fortieth_of_its_share() -> None:
    assert [len(chunk) for chunk in chunks([1] * 200)] == [*[24] * 5, 20, 15, 11, 8, 6, *[5] * 4]


def test_large_files_go_alone() -> None:
    assert list(chunks([1, 1, 100, 90, 5]))[1:3] == [[100], [90]]


def test_all_go_once_and_in_order() -> None:
    sizes = [size % 7 for size in range(1000)]
    out = list(chunks(sizes))
    assert [size for chunk in out for size in chunk] == sizes
    assert max(map(len, out)) == 24


def test_files_of_no_size_go_as_well() -> None:
    assert [len(chunk) for chunk in chunks([0] * 50)] == [24, 24, 2]


def test_nothing_goes_out_for_nothing() -> None:
    assert list(chunks([])) == []


def test_neighbours_are_of_one_share_and_others_are_helped_from_the_end() -> None:
    items = list(range(12))
    shares = Shares(items, [1] * 12, 3)
    assert [shares.next(number) for number in (0, 1, 2)] == [[0], [4], [8]]
    for left in (9, 10, 11):
        assert shares.next(2) == [left]
    assert [shares.next(2) for _ in range(3)] == [[3], [7], [2]]


@pytest.mark.parametrize(("number", "jobs"), [(80, 1), (80, 2), (80, 3), (80, 90), (1, 2), (0, 2)])
def test_each_item_is_answered_once(number: int, jobs: int) -> None:
    assert answered(list(range(number)), jobs) == [2 * item for item in range(number)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the work reaches the processes by fork")
def test_processes_learn_what_others_found_out() -> None:
    """Long news and long results, at the same time: neither waits until the other is read."""
    heard: set[str] = set()

    def work(item: int) -> str:
        return f"{item} {len(heard)} {'x' * 400_000}"

    exchange: Exchange[int, str] = Exchange(lambda _: [], lambda result: [result], heard.update)
    results = list(Processes(work, str, 2, lambda _: 1, exchange).map(range(60)))
    assert sorted(int(result.split()[0]) for result in results) == list(range(60))
    most = max(int(result.split()[1]) for result in results)
    assert 0 < most < 60
    assert not heard


class Looks:
    """Processes that look at their shares first; one that sees 666 dies of it."""

    def __init__(self) -> None:
        self.seen: set[int] = set()

    def begin(self, items: Sequence[int]) -> list[int]:
        if 666 in items:
            os._exit(3)
        self.seen.update(items)
        return list(items)

    def map(self, *stages: Sequence[int]) -> list[tuple[int, frozenset[int]]]:
        """Each item, and what its process had seen, or heard of, by then."""
        exchange: Exchange[int, tuple[int, frozenset[int]]] = Exchange(self.begin, lambda _: [], self.seen.update)

        def work(item: int) -> tuple[int, frozenset[int]]:
            return _doubled(item), frozenset(self.seen)

        def on_death(item: int) -> tuple[int, frozenset[int]]:
            return -item, frozenset()

        return list(Processes(work, on_death, 2, lambda _: 1, exchange).map(*stages))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the work reaches the processes by fork")
def test_all_shares_are_looked_at_before_the_first_item_is_worked_on() -> None:
    assert {seen for _, seen in Looks().map(range(60))} == {frozenset(range(60))}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the work reaches the processes by fork")
def test_a_look_that_kills_costs_nothing() -> None:
    assert sorted(item for item, _ in Looks().map([*range(30), 666])) == [-666, *(2 * item for item in range(30))]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the work reaches the processes by fork")
def test_a_stage_begins_when_all_of_the_one_before_is_answered() -> None:
    """Deaths of the first stage are told before the second, and those of the second cost themselves."""
    doubled = [item for item, _ in Looks().map([*range(10), 555, *range(10, 30)], [*range(100, 120), 667])]
    assert sorted(doubled[:31]) == [-555, *(2 * item for item in range(30))]
    assert sorted(doubled[31:]) == [-667, *(2 * item for item in range(100, 120))]


def test_processes_may_be_started_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on macOS and Windows, where nothing is inherited."""
    monkeypatch.setattr(processes, "_CONTEXT", multiprocessing.get_context("spawn"))
    assert answered([*range(30), 666]) == [-666, *(2 * item for item in range(30))]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="what kills reaches the processes by fork")
def test_items_that_kill_cost_themselves(capfd: pytest.CaptureFixture[str]) -> None:
    items = [*range(30), 666, *range(30, 60), 667, 555]
    assert answered(items) == [-667, -666, -555, *(2 * item for item in range(60))]
    assert "ValueError: 555" in capfd.readouterr().err


def test_the_rest_is_answered_where_no_more_processes_are_to_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two start, both die, and no other starts."""
    started: list[int] = []

    class Few(processes._Process[int, int]):
        def __init__(self, *arguments: object) -> None:
            if len(started) == 2:
                raise BlockingIOError
            started.append(1)
            super().__init__(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(processes, "_Process", Few)
    found = answered([666, *range(1, 40), 667])
    assert len(found) == 41
    assert {-667, -666} <= set(found)


def test_no_process_stays_when_nobody_asks_any_more() -> None:
    results = Processes(time.sleep, time.sleep, 2, lambda seconds: 1 if seconds else 99).map([0, *[60] * 60])
    next(results)
    results.close()  # type: ignore[attr-defined]
    assert not [one for one in multiprocessing.active_children() if one.name == "torchlint"]


@pytest.mark.parametrize("handler", [signal.SIG_IGN, signal.default_int_handler], ids=["ignored", "handled"])
def test_processes_end_whatever_their_parent_makes_of_a_termination(
    handler: signal.Handlers, capfd: pytest.CaptureFixture[str]
) -> None:
    before = signal.signal(signal.SIGTERM, handler)
    try:
        assert answered([*range(30), 666]) == [-666, *(2 * item for item in range(30))]
    finally:
        signal.signal(signal.SIGTERM, before)
    assert capfd.readouterr().err == ""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="which of them live is asked by signals")
def test_no_process_outlives_the_one_that_asks(tmp_path: Path) -> None:
    program = tmp_path / "asking.py"
    program.write_text(_ASKING, encoding="utf-8")
    asking = subprocess.run([sys.executable, program], check=False, capture_output=True, timeout=60)
    assert asking.returncode == -signal.SIGKILL
    # Its output ends when the last process ends that holds it.
    assert b"0" in asking.stdout.split()


_ASKING = """
import os, signal, sys
from torchlint.engine.processes import Processes

def doubled(item):
    os.write(1, b"%d " % (2 * item))
    return 2 * item

answers = Processes(doubled, doubled, 2, lambda item: 1).map([0, 1, 2])
next(answers)
os.kill(os.getpid(), signal.SIGKILL)
"""
