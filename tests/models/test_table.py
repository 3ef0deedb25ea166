"""What `rules/registry/models/` says is, for a sample, what a run shows."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator

import pytest

from torchlint.catalogue.load import load_models
from torchlint.catalogue.models import ModelFile

pytest.importorskip("torch")

from tests.models.subjects import Subject
from tests.models.table import LIBRARIES, Library

_EVERY = 12
"""One model in so many is run again: the rest of a library follows from the same tool."""


@pytest.mark.torch
@pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.package)
@pytest.mark.filterwarnings("ignore")  # what libraries warn of while they build their models
def test_a_sample_runs_what_the_table_says(library: Library) -> None:
    if importlib.util.find_spec(library.package) is None:
        pytest.skip(f"{library.package} is not installed")
    known = load_models(library.package)
    if library.release != known.release:
        pytest.skip(f"measured on {known.release}, and {library.release} is installed")
    listed = dict(_listed(known))
    sample = [subject for subject in library.subjects() if subject.label in listed][::_EVERY]
    assert sample
    assert {one.label: _shown(one) for one in sample} == {one.label: listed[one.label] for one in sample}


def _listed(known: ModelFile) -> Iterator[tuple[str, tuple[tuple[str, ...], bool]]]:
    for holding in known.holding:
        for label in (*holding.calls, *holding.models.values()):
            yield label, (holding.operators, holding.draws)


def _shown(subject: Subject) -> tuple[tuple[str, ...], bool]:
    held = subject.held()
    return held.operators, held.draws
