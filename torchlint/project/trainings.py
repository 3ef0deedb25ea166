"""Whether what runs trains, from the calls of all files that do a part of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from torchlint.facts.summary import FileSummary
from torchlint.facts.training.steps import Part, Training
from torchlint.project.call_graph import CallGraph, Symbol


def training_in(run: frozenset[Symbol], summaries: Mapping[str, FileSummary]) -> Training | None:
    """Where the program trains: a backward pass if some optimizer steps, or a trainer that does both.

    An optimizer may be an object of the project that names do not follow: of what is made, any method may step.
    """
    found = parts_of_training(run, summaries)
    if Part.WHOLE in found or Part.BACKWARD not in found:
        return found.get(Part.WHOLE)
    steps = Part.STEP in found or any(
        one.part is Part.STEP and (path, one.symbol.rpartition(".")[0]) in run
        for path, one in _trainings_of_files(run, summaries)
    )
    return found[Part.BACKWARD] if steps else None


def may_train(
    places: frozenset[Symbol],
    calls: CallGraph,
    summaries: Mapping[str, FileSummary],
    is_named: Callable[[str, frozenset[str]], bool],
) -> bool:
    """Whether what may run from here trains, or makes a library's trainer; a backward pass alone is a layer's own.

    `is_named` says whether some of these files name an attribute. A method that none of them names runs in none.
    """
    possible = calls.possible(places)
    loaded = frozenset(path for path, _ in possible)
    beside = {(one.path, one.symbol) for one in trainings_in(possible - places, summaries)}
    possible -= {
        place
        for place in beside
        if calls.is_called_by_name(place) and not is_named(place[1].rpartition(".")[2], loaded)
    }
    whole = {Part.SEEDED, Part.TRAINER} & parts_of_training(possible, summaries).keys()
    return bool(whole) or training_in(possible, summaries) is not None


def parts_of_training(run: frozenset[Symbol], summaries: Mapping[str, FileSummary]) -> dict[Part, Training]:
    """The first call that does each part of a training."""
    found: dict[Part, Training] = {}
    for training in trainings_in(run, summaries):
        found.setdefault(training.part, training)
    return found


def trainings_in(run: frozenset[Symbol], summaries: Mapping[str, FileSummary]) -> Iterator[Training]:
    """Every call that does a part of a training."""
    return (one for path, one in _trainings_of_files(run, summaries) if (path, one.symbol) in run)


def _trainings_of_files(run: frozenset[Symbol], summaries: Mapping[str, FileSummary]) -> Iterator[tuple[str, Training]]:
    """Those of the files that something of what runs stands in, by path: a project may have thousands of others."""
    for path in sorted({path for path, _ in run} & summaries.keys()):
        yield from ((path, one) for one in summaries[path].trainings)
