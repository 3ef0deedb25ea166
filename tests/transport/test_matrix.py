"""Each rule follows its value on each everyday way, or `known.toml` says that it does not."""

from __future__ import annotations

import pytest

from tests.transport.judging import problem_of_a_finding
from tests.transport.programs import program
from tests.transport.reading import CASES, GROUPS, KNOWN, WAYS, ways_of
from tests.transport.running import found_on_ways
from torchlint.catalogue import load_catalogue

PAIRS = [pytest.param(name, way, id=f"{name}-{way}") for name, case in CASES.items() for way in ways_of(case)]


@pytest.mark.parametrize(("name", "way"), PAIRS)
def test_the_value_is_followed_or_the_gap_is_known(name: str, way: str) -> None:
    case, is_known = CASES[name], way in KNOWN.gaps.get(name, ())
    found = found_on_ways(name)[way]
    problem = problem_of_a_finding(program(case, way), case.finding, found, is_known_gap=is_known)
    assert problem is None, problem


def test_what_is_known_is_about_pairs_that_exist() -> None:
    for name, ways in KNOWN.gaps.items():
        assert set(ways) <= set(ways_of(CASES[name])), name
    for name, misses in KNOWN.near_misses.items():
        assert set(misses) <= set(CASES[name].near_misses), name
    for name, controls in KNOWN.false_alarms.items():
        for control, ways in controls.items():
            assert control in CASES[name].controls, name
            assert set(ways) <= set(ways_of(CASES[name])), f"{name}: {control}"


def test_a_case_leaves_out_only_ways_that_exist_and_names_a_rule() -> None:
    rules = load_catalogue().rules
    for name, case in CASES.items():
        assert set(case.without) <= {*WAYS, *(group.name for group in GROUPS)}, name
        assert (case.select is None) == rules[case.code or name].default, name
