"""What makes a value harmless silences its rule on every way, and what only looks like it does not."""

from __future__ import annotations

import pytest

from tests.transport.judging import problem_of_a_finding, problem_of_a_silence
from tests.transport.programs import program
from tests.transport.reading import CASES, KNOWN, ways_of
from tests.transport.running import found_on_near_misses, found_on_ways, near_miss

CONTROLS = [
    pytest.param(name, control, id=f"{name}-{control}") for name, case in CASES.items() for control in case.controls
]
NEAR_MISSES = [
    pytest.param(name, miss, id=f"{name}-{miss}") for name, case in CASES.items() for miss in case.near_misses
]


@pytest.mark.parametrize(("name", "control"), CONTROLS)
def test_a_sanitised_value_is_silent_or_the_false_alarm_is_known(name: str, control: str) -> None:
    case, swap = CASES[name], CASES[name].controls[control]
    known, found = KNOWN.false_alarms.get(name, {}).get(control, ()), found_on_ways(name, swap)
    problems = {
        way: problem_of_a_silence(program(case, way, swap), found[way], is_known_false_alarm=way in known)
        for way in ways_of(case)
    }
    wrong = [f"{way}: {problem}" for way, problem in problems.items() if problem is not None]
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.parametrize(("name", "miss"), NEAR_MISSES)
def test_a_near_miss_is_reported_or_known_to_be_missed(name: str, miss: str) -> None:
    case, is_known = CASES[name], miss in KNOWN.near_misses.get(name, ())
    words = case.near_misses[miss].finding or case.finding
    found = found_on_near_misses(name)[miss]
    problem = problem_of_a_finding(near_miss(case, miss), words, found, is_known_gap=is_known)
    assert problem is None, problem
