"""Which factors are tried, in which order, and how few experiments find the smallest set."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from torchlint.diverge.data import Trial
from torchlint.diverge.experiments import Search, suspects
from torchlint.recording.factors.names import FACTORS


def search(*needed: str, budget: int = 24, always: tuple[str, ...] = ()) -> Search:
    """A program whose runs are equal where all of these are held."""

    def trial(held: tuple[str, ...]) -> Trial:
        return Trial(held, equal=set(needed) <= set(held), runs=2)

    return Search(trial, budget, always)


@pytest.mark.parametrize("factor", FACTORS)
def test_each_factor_is_found_alone(factor: str) -> None:
    own = search(factor)
    assert own.find(suspects(None, ())) == (factor,)
    assert len(own.trials) <= 14


def test_the_first_suspect_takes_one_experiment() -> None:
    own = search("listing")
    assert own.find(suspects(None, ("listing",))) == ("listing",)
    assert [trial.held for trial in own.trials] == [("listing",)]


@pytest.mark.parametrize("pair", [("clock", "numpy-random"), ("threads", "memory"), ("hash-seed", "leftover-files")])
def test_two_factors_that_are_needed_together_are_found(pair: tuple[str, str]) -> None:
    assert set(search(*pair).find(suspects(None, ()))) == set(pair)


def test_nothing_is_named_where_the_runs_stay_different() -> None:
    own = search("the network")
    assert own.find(suspects(None, ())) == ()
    assert max(len(trial.held) for trial in own.trials) == len(FACTORS)


def test_no_more_experiments_are_made_than_allowed() -> None:
    own = search("threads", "memory", budget=7)
    own.find(suspects(None, ()))
    assert len(own.trials) == 7


def test_factors_of_causes_before_are_held_in_every_experiment_and_named_in_none() -> None:
    held: list[tuple[str, ...]] = []
    own = search("clock", always=("listing",))
    plain: Callable[[tuple[str, ...]], Trial] = own.equal_when_held

    def told(names: tuple[str, ...]) -> Trial:
        held.append(names)
        return plain(names)

    own.equal_when_held = told
    assert own.find(suspects(None, ("listing",))) == ("clock",)
    assert all("listing" in names for names in held)
    assert all("listing" not in trial.held for trial in own.trials)
