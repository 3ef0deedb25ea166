"""The facts of other libraries as shipped: words that fit, fixtures that show them, calls that installed ones have."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

from torchlint.catalogue import load_catalogue
from torchlint.catalogue.libraries import Fact, Library, Use

FIXTURES = Path(__file__).parents[2] / "fixtures"
FACTS = [(library, fact) for library in load_catalogue().libraries for fact in library.fact]
USES = [(fact, use) for _, fact in FACTS for use in fact.use]
LONGEST = 125
"""With a quote of 35 characters a message fits a line."""


def each_fact() -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("library", "fact"), FACTS, ids=[fact.id for _, fact in FACTS])


@each_fact()
def test_a_fact_is_worded(library: Library, fact: Fact) -> None:
    assert len(fact.what) <= LONGEST
    assert not fact.what.endswith(".")
    assert fact.fix.endswith(".")
    assert fact.id.startswith(library.package)


@pytest.mark.parametrize("fact", [fact for _, fact in FACTS], ids=lambda fact: fact.id)
def test_a_fixture_of_its_rule_shows_a_fact(fact: Fact) -> None:
    names = {(use.call or use.method).rpartition(".")[2] for use in fact.use}
    lines = [line for path in (FIXTURES / fact.rule).rglob("*.py") for line in path.read_text().splitlines()]
    assert not names or any(name in line and f"# expect: {fact.rule}" in line for name in names for line in lines)


def test_the_last_release_with_it_is_before_the_first_without() -> None:
    library, fact = load_catalogue().fact("gensim_hash")
    assert "3.8.3" in library.affected(fact)
    assert "4.0.0" not in library.affected(fact)
    library, fact = load_catalogue().fact("albumentations_compose")
    assert "1.4.20" not in library.affected(fact)
    assert {"1.4.21", library.releases[-1]} <= library.affected(fact)


def _parameters(use: Use) -> Iterator[str]:
    yield from (one.argument for one in use.left_out)
    yield from (condition.argument for condition in use.where)


@pytest.mark.parametrize(("fact", "use"), USES, ids=[f"{fact.id}-{use.call or use.method}" for fact, use in USES])
def test_an_installed_library_has_the_call_and_its_parameters(fact: Fact, use: Use) -> None:
    library = next(library for library, one in FACTS if one is fact)
    if importlib.util.find_spec(library.import_name) is None:
        pytest.skip(f"{library.package} is not installed")
    if "()" in use.call or use.method or library.releases[-1] not in library.affected(fact):
        pytest.skip("a method, or a release that is not the newest")
    path, _, name = use.call.rpartition(".")
    function = getattr(importlib.import_module(path), name, None)
    if function is None:
        pytest.skip("removed since")
    parameters = inspect.signature(function).parameters
    takes_any = any(one.kind is one.VAR_KEYWORD for one in parameters.values())  # Doc2Vec hands them on
    assert takes_any or set(_parameters(use)) <= set(parameters)
