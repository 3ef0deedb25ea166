"""Asks torch, NumPy and Python who seeds what, and whether the calls of the registry exist."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import random
import subprocess
import sys
from pathlib import Path

import pytest

from torchlint.catalogue import load_catalogue
from torchlint.catalogue.load import load_generators
from torchlint.catalogue.registry import Argument
from torchlint.catalogue.values import by_name

RANDOMNESS = load_catalogue().randomness
LIBRARIES = ("torch", "numpy", "random")
ENTRIES = [*(entry.calls for entry in RANDOMNESS.seeder), *(entry.calls for entry in RANDOMNESS.draw)]
CALLS = sorted(call for calls in ENTRIES for call in calls if call.partition(".")[0] in LIBRARIES and "()" not in call)
NOT_HERE = {"numpy.random.random_integers"}
"""Removed from newer releases, and still drawn from by older code."""

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed"),
    pytest.mark.skipif(importlib.util.find_spec("numpy") is None, reason="NumPy is not installed"),
]


SAVERS = [
    (call, entry.path)
    for entry in RANDOMNESS.saver
    for call in entry.calls
    if entry.path is not None and call.partition(".")[0] in ("torch", "numpy", "json", "pickle", "shutil")
]


@pytest.mark.parametrize(("call", "path"), SAVERS)
def test_a_call_that_saves_takes_its_path_where_the_registry_says(call: str, path: Argument) -> None:
    library, _, name = call.rpartition(".")
    parameters = list(inspect.signature(getattr(importlib.import_module(library), name)).parameters)
    assert parameters[path.position] in (path.argument, "fname")  # numpy.savetxt calls it so


def test_draws_of_an_order_keep_the_elements() -> None:
    np, torch = importlib.import_module("numpy"), importlib.import_module("torch")
    items = list(range(20))
    assert sorted(np.random.permutation(items).tolist()) == sorted(torch.randperm(20).tolist()) == items
    for shuffle in (np.random.shuffle, random.shuffle):
        shuffled = list(items)
        shuffle(shuffled)
        assert sorted(shuffled) == items


@pytest.mark.parametrize("call", [call for call in CALLS if call not in NOT_HERE])
def test_a_call_of_the_registry_exists(call: str) -> None:
    library, *parts = call.split(".")
    found = importlib.import_module(library)
    for part in parts:
        found = getattr(found, part)
    assert callable(found)


SAMPLED = sorted(
    (name.split(".")[2].removesuffix("()"), name.rpartition(".")[2])
    for entry in RANDOMNESS.draw
    for name in entry.calls
    if name.startswith("torch.distributions.")
)
ARGUMENTS = {
    "Beta": "0.5, 0.5",
    "Binomial": "9, 0.5",
    "Categorical": "torch.ones(4)",
    "Cauchy": "0.0, 1.0",
    "Dirichlet": "torch.ones(4)",
    "FisherSnedecor": "3.0, 4.0",
    "Independent": "d.Normal(torch.zeros(4), 1.0), 1",
    "LKJCholesky": "3",
    "LogisticNormal": "torch.zeros(4), torch.ones(4)",
    "LowRankMultivariateNormal": "torch.zeros(4), torch.ones(4, 1), torch.ones(4)",
    "MixtureSameFamily": "d.Categorical(torch.ones(4)), d.Normal(torch.arange(4.0), 1.0)",
    "Multinomial": "9, torch.ones(4)",
    "MultivariateNormal": "torch.zeros(4), torch.eye(4)",
    "OneHotCategorical": "torch.ones(4)",
    "OneHotCategoricalStraightThrough": "torch.ones(4)",
    "RelaxedBernoulli": "0.5, 0.5",
    "RelaxedOneHotCategorical": "0.5, torch.ones(4)",
    "TransformedDistribution": "d.Normal(0.0, 1.0), [d.ExpTransform()]",
}
"""Of distributions that take other arguments than one or two numbers."""
TWO = {"Gamma", "Gumbel", "InverseGamma", "Kumaraswamy", "Laplace", "LogNormal", "NegativeBinomial", "Normal", "Pareto"}
TWO |= {"Uniform", "VonMises", "Weibull"}


@pytest.mark.parametrize(("name", "method"), SAMPLED)
def test_a_distribution_draws_from_torchs_global_generator(name: str, method: str) -> None:
    torch = importlib.import_module("torch")
    given = ARGUMENTS.get(name, "0.5, 0.8" if name in TWO else "0.5")
    made = eval(f"d.{name}({given})", {"d": torch.distributions, "torch": torch})  # noqa: S307 - the lines above
    before = torch.get_rng_state()
    getattr(made, method)((8,))
    assert not torch.equal(before, torch.get_rng_state())


def draws() -> dict[str, float]:
    np, torch = importlib.import_module("numpy"), importlib.import_module("torch")
    return {"torch": torch.rand(()).item(), "numpy": np.random.rand(), "random": random.random()}  # noqa: S311


@pytest.mark.parametrize("generator", ["torch", "numpy", "random"])
def test_a_seed_seeds_its_generator_and_no_other(generator: str) -> None:
    entry = next(entry for entry in RANDOMNESS.seeder if entry.seeds == (generator,))
    module, _, name = entry.calls[0].rpartition(".")
    seed = getattr(importlib.import_module(module), name)
    seed(5)
    first = draws()
    seed(5)
    second = draws()
    assert {name for name in first if first[name] == second[name]} == {generator}


def test_a_generator_of_torch_without_a_seed_repeats() -> None:
    torch = importlib.import_module("torch")
    assert torch.Generator().initial_seed() == torch.Generator().initial_seed() == 67280421310721


def test_other_generators_without_a_seed_do_not_repeat() -> None:
    np = importlib.import_module("numpy")
    assert np.random.default_rng().random() != np.random.default_rng().random()
    assert np.random.RandomState().rand() != np.random.RandomState().rand()
    assert np.random.default_rng(None).random() != np.random.default_rng(None).random()
    assert np.random.RandomState(None).rand() != np.random.RandomState(None).rand()
    assert random.Random(None).random() != random.Random(None).random()  # noqa: S311
    assert random.Random().random() != random.Random().random()  # noqa: S311


def test_seeders_that_rules_look_at_one_by_one_seed_what_the_registry_says() -> None:
    seeds = {call: set(entry.seeds) for entry in RANDOMNESS.seeder for call in entry.calls}
    for call, library in by_name(load_generators().seeders).items():
        assert seeds[call] == (set(LIBRARIES) if library == "all" else {library})
    elsewhere = ("torch.mps.", "torch.xpu.", "torch.Generator()", "tensorflow.")
    assert all(call in seeds for call in load_generators().setters if not call.startswith(elsewhere))


_CHILD = """
import torch
import torch.multiprocessing as mp

def work(rank, folder):
    torch.save(torch.rand(4), f"{folder}/{rank}.pt")

if __name__ == "__main__":
    import sys
    torch.manual_seed(0)
    mp.spawn(work, args=(sys.argv[1],), nprocs=1)
"""


def test_a_spawned_process_has_none_of_its_parents_generators(tmp_path: Path) -> None:
    torch = importlib.import_module("torch")
    (tmp_path / "start.py").write_text(_CHILD)
    drawn = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        subprocess.run([sys.executable, "start.py", name], cwd=tmp_path, check=True, timeout=600)
        drawn.append(torch.load(tmp_path / name / "0.pt"))
    assert not torch.equal(*drawn), "two runs that seed alike draw otherwise in the process they spawn"


@pytest.mark.parametrize("name", sorted(RANDOMNESS.cpu_draws))
def test_a_draw_without_a_device_is_the_cpu_generators(name: str) -> None:
    torch = importlib.import_module("torch")
    function = getattr(torch, name.rpartition(".")[2])
    arguments = {"torch.randint": (9, (4,)), "torch.randperm": (9,)}.get(name, (4,))
    torch.manual_seed(1)
    state = torch.default_generator.get_state()
    function(*arguments)
    assert not torch.equal(state, torch.default_generator.get_state())
