"""Whether what runs trains, from the calls of all files that do a part of it, and what it leaves in training mode."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from torchlint.facts.graphs import reached
from torchlint.facts.notation import Symbol, is_of_project, symbol_of
from torchlint.facts.summary import Extract, FileSummary
from torchlint.facts.training.steps import Part, Training
from torchlint.facts.training.training_mode import ModuleModes, module_modes
from torchlint.project.call_graph import CallGraph

MODES = Extract("modes", ModuleModes, lambda facts, _: module_modes(facts))
"""What a file says about training mode."""
_TRAINING = frozenset({Part.BACKWARD, Part.STEP, Part.WHOLE, Part.SEEDED, Part.TRAINER})


def training_in(run: frozenset[Symbol], summaries: Mapping[str, FileSummary]) -> Training | None:
    """Where the program trains: a backward pass if some optimizer steps, or a trainer that does both.

    An optimizer may be an object of the project that names do not follow: of what is made, any method may step.
    """
    found = parts_of_training(run, summaries)
    if Part.WHOLE in found or Part.BACKWARD not in found:
        return found.get(Part.WHOLE)
    stepping = (place for place in _trainings_of_files(run, summaries) if place[1].part is Part.STEP)
    steps = Part.STEP in found or any((path, one.symbol.rpartition(".")[0]) in run for path, one in stepping)
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
    methods = (place for place in beside if calls.is_called_by_name(place))
    possible -= {place for place in methods if not is_named(place[1].rpartition(".")[2], loaded)}
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


def varying_layer(model: str, summaries: Mapping[str, FileSummary]) -> str | None:
    """A layer in a class (`path::Net`) that does something else in training mode; None where none evidently does.

    A class on the way that has a mode of its own is not looked into.
    """
    found = reached([model], lambda name: _parts_of(name, summaries) if is_of_project(name) else ())
    return next((name for name in found if not is_of_project(name)), None)


def _parts_of(model: str, summaries: Mapping[str, FileSummary]) -> list[str]:
    """The layers of a class, those of libraries first, and its bases in the project."""
    path, qualname = symbol_of(model)
    summary = summaries.get(path)
    if summary is None or qualname in MODES.of(summary).own:
        return []
    held = [name for owner, name in MODES.of(summary).parts if owner == qualname]
    held += [base for owner, base in summary.bases if owner == qualname and is_of_project(base)]
    return [*sorted(name for name in held if not is_of_project(name)), *(name for name in held if is_of_project(name))]


def stays_in_training_mode(places: Iterable[Symbol], calls: CallGraph, summaries: Mapping[str, FileSummary]) -> bool:
    """Whether nothing that may run from here trains, or sets the mode of a module."""
    possible = calls.possible(frozenset(places))
    known = [(summaries[path], symbol) for path, symbol in possible if path in summaries]
    if any(symbol in MODES.of(summary).setters for summary, symbol in known):
        return False
    return not any(one.part in _TRAINING for one in trainings_in(possible, summaries))


def sets_modes_beside(path: str, summaries: Mapping[str, FileSummary]) -> bool:
    """Whether any code of a file, or of one that imports it, sets the mode of a module."""
    beside = (one for one in summaries.values() if one.path == path or any(each.path == path for each in one.imports))
    return any(MODES.of(one).setters for one in beside)
