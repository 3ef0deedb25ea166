"""Which calls of a file lead where, as far as its text is looked at before its tree."""

from __future__ import annotations

from unittest import mock

import pytest

from tests.facts.reading import facts_of, facts_of_program
from tests.harness.programs import Program, all_programs
from torchlint.catalogue import load_catalogue
from torchlint.facts import call_edges
from torchlint.facts.call_edges import edges_of, property_edges
from torchlint.facts.randomness.environments import calls_for_environments
from torchlint.facts.watch import Watch

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


_HANDING = """
import functools, importlib, torch

def work(x): ...

class Net:
    def step(self, x): ...

def run(fallback=work, plain=None, *, number=3):
    values = torch.rand(number)
    {bound}
    use(given, values, number, plain)
"""


@pytest.mark.parametrize(
    "bound",
    [
        "given = work",
        "given = fallback",
        "given = functools.partial(work, 1)",
        "given = torch.compile(work)",
        "given = {'work': work}.get('work')",
        "given = {'work': work}['work']",
        "given = work if number else None",
        "given = number and work",
        "given = Net.step",
        "given = values\n    given = work",
        "partial = functools.partial\n    given = partial(work)",
    ],
)
def test_a_function_that_a_name_may_stand_for_is_mentioned(bound: str) -> None:
    facts = facts_of_program(_HANDING.replace("{bound}", bound))
    mentioned = {edge.callee for edge in edges_of(facts, Watch.of(load_catalogue())) if edge.symbol == "run"}
    assert mentioned & {"program.py::work", "program.py::Net.step"}


@pytest.mark.parametrize("bound", ["given = work(values)", "given = values + 1", "given, other = values", "given = 1"])
def test_names_that_hold_what_calls_and_operators_give_are_not_resolved(bound: str) -> None:
    facts = facts_of_program(_HANDING.replace("{bound}", bound))
    scope = next(one.index for one in facts.symbols.scopes if one.name == "run")
    names = ("given", "values", "number", "plain")
    assert [call_edges._may_be_code(facts, scope, name) for name in names] == 4 * [False]


@pytest.mark.parametrize("program", [one for one in all_programs() if one.sources], ids=lambda one: one.name)
def test_no_name_of_code_is_taken_for_another(program: Program) -> None:
    """The edges are those that there are where every name is resolved."""
    watch = Watch.of(load_catalogue())
    for path, text in program.sources.items():
        found = edges_of(facts_of(text.encode(), path), watch)
        with mock.patch.object(call_edges, "_may_be_code", return_value=True):
            assert edges_of(facts_of(text.encode(), path), watch) == found
