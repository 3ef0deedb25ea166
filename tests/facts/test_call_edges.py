"""Which calls of a file lead where, as far as its text is looked at before its tree."""

from __future__ import annotations

import pytest

from tests.facts.reading import facts_of_program
from torchlint.facts.call_edges import property_edges
from torchlint.facts.randomness.environments import calls_for_environments

_CLASS = """
class Net:
    @property
    def loss(self):
        return 1

    def step(self):
        return {read}
"""


@pytest.mark.parametrize("read", ["self.loss", "(self\n            .loss)", "(self.  # the last\n            loss)"])
def test_a_property_is_run_by_whatever_reads_it(read: str) -> None:
    (edge,) = property_edges(facts_of_program(_CLASS.format(read=read)))
    assert (edge.symbol, edge.callee) == ("Net.step", "program.py::Net.loss")


@pytest.mark.parametrize("read", ["other.loss", "'self.loss'", "self.losses"])
def test_what_is_written_alike_runs_none(read: str) -> None:
    assert list(property_edges(facts_of_program(_CLASS.format(read=read)))) == []


def test_an_algorithm_trains_under_another_name_too() -> None:
    program = (
        "from stable_baselines3 import PPO\nmodel = PPO('MlpPolicy', 'CartPole-v1')\ntrain = model.learn\ntrain(1)\n"
    )
    found = [site.node.lineno for site in calls_for_environments(facts_of_program(program))]
    assert found == [2, 4]
