"""The first step at which two runs differ, and how they grow apart."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tests.diverge.recorded import Made, recorded
from torchlint.diverge.growth import growth_of
from torchlint.diverge.recordings import Recorded, read_recorded
from torchlint.diverge.stepping import differences, first_difference


class Runs:
    """Writes runs, and reads them back."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0

    def made(self, *steps: Made, reason: str | None = "exit", **roles: tuple[Made, ...]) -> Recorded:
        self._count += 1
        folder = self._folder / str(self._count)
        folder.mkdir()
        for role, own in (roles or {"main": steps}).items():
            recorded(folder / f"{role}.tlrec", *own, level="step", reason=reason, role=role.replace("_", " "))
        return read_recorded(folder)


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path)


def step(parameters: int, **values: int) -> Made:
    return Made(values={"parameters": parameters, **values})


def test_equal_runs_have_no_first_difference(runs: Runs) -> None:
    assert first_difference(runs.made(step(1), step(2)), runs.made(step(1), step(2))) is None


def test_the_first_step_that_differs_is_told_with_what_differs(runs: Runs) -> None:
    found = first_difference(runs.made(step(1), step(2, loss=1)), runs.made(step(1), step(3, loss=2)))
    assert found is not None
    assert (found.process, found.number, found.differing, found.ends_with) == (
        "main",
        2,
        ("parameters", "loss"),
        "optimizer 1",
    )


def test_fewer_steps_are_a_difference(runs: Runs) -> None:
    found = first_difference(runs.made(step(1)), runs.made(step(1), step(2)))
    assert found is not None
    assert (found.number, found.differing) == (2, ())


def test_steps_behind_the_end_that_the_recorder_set_are_none(runs: Runs) -> None:
    assert first_difference(runs.made(step(1), reason="seconds"), runs.made(step(1), step(2))) is None


def test_a_program_that_is_killed_earlier_differs(runs: Runs) -> None:
    assert first_difference(runs.made(step(1), reason=None), runs.made(step(1), step(2))) is not None


def test_a_tail_that_holds_nothing_is_none(runs: Runs) -> None:
    assert first_difference(runs.made(step(1), Made(ends_with="end", values={})), runs.made(step(1))) is None
    assert first_difference(runs.made(step(1), Made(ends_with="end")), runs.made(step(1))) is not None


def test_numbers_that_a_log_shows_count_only_where_there_is_nothing_else(runs: Runs) -> None:
    assert first_difference(runs.made(step(1, reads=1)), runs.made(step(1, reads=2))) is None
    alone = [runs.made(Made(values={"reads": digest})) for digest in (1, 2)]
    assert first_difference(*alone) is not None


def test_each_rank_has_its_own_first_difference(runs: Runs) -> None:
    ours = runs.made(rank_0=(step(1), step(2)), rank_1=(step(1), step(2)))
    theirs = runs.made(rank_0=(step(1), step(3)), rank_1=(step(4), step(2)))
    assert [(each.process, each.number) for each in differences(ours, theirs)] == [("rank 0", 2), ("rank 1", 1)]
    earliest = first_difference(ours, theirs)
    assert earliest is not None
    assert earliest.process == "rank 1"


def test_a_rank_that_only_one_run_has_differs_from_the_start(runs: Runs) -> None:
    found = list(differences(runs.made(rank_0=(step(1),)), runs.made(rank_0=(step(1),), rank_1=(step(1),))))
    assert [(each.process, each.number) for each in found] == [("rank 1", 1)]


def test_growth_is_the_distance_of_parameters_and_the_digits_that_show_it_in_the_loss(runs: Runs) -> None:
    ours = runs.made(Made(losses=(2.3041,), sample=(3.0, 4.0)), Made(losses=(2.0,), sample=(0.0, 0.0)))
    theirs = runs.made(Made(losses=(2.3047,), sample=(3.0, 4.5)), Made(losses=(2.0,), sample=(0.0, 0.5)))
    first, second = growth_of(ours, theirs)
    assert (first.step, first.relative, first.loss, first.digit) == (1, 0.1, (2.3041, 2.3047), 4)
    assert (second.relative, second.digit) == (0.5, None)


def test_growth_leaves_out_what_is_no_number(runs: Runs) -> None:
    ours = runs.made(Made(losses=(math.nan,), sample=(math.inf,)), Made(losses=(1e308,), sample=(1e308, 1e308)))
    theirs = runs.made(Made(losses=(1.0,), sample=(1.0,)), Made(losses=(-1e308,), sample=(-1e308, 1e308)))
    assert [(each.relative, each.digit) for each in growth_of(ours, theirs)] == [(None, None), (None, None)]


def test_growth_of_many_steps_is_told_at_even_distances_with_the_last(runs: Runs) -> None:
    run = runs.made(*[Made(losses=(float(number),)) for number in range(1_000)])
    told = growth_of(run, run)
    assert len(told) <= 401
    assert (told[0].step, told[1].step, told[-1].step) == (1, 4, 1_000)
