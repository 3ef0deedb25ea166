"""What a program leaves in training mode: classes of models that vary in it, and whether anything sets the mode."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from torchlint.facts.summary import FileSummary
from torchlint.facts.training.steps import Part
from torchlint.project.call_graph import CallGraph, Symbol

_DEPTH = 8
_TRAINING = frozenset({Part.BACKWARD, Part.STEP, Part.WHOLE, Part.SEEDED, Part.TRAINER})


def varying_layer(model: str, summaries: Mapping[str, FileSummary], depth: int = _DEPTH) -> str | None:
    """A layer in a class (`path::Net`) that does something else in training mode; None where none evidently does.

    None, too, where a class on the way has a mode of its own.
    """
    path, _, qualname = model.partition("::")
    summary = summaries.get(path)
    if summary is None or depth <= 0 or qualname in summary.modes_of_modules.own:
        return None
    held = [name for owner, name in summary.modes_of_modules.parts if owner == qualname]
    held += [base for owner, base in summary.bases if owner == qualname and "::" in base]
    layers = sorted(name for name in held if "::" not in name)
    if layers:
        return layers[0]
    inner = (varying_layer(name, summaries, depth - 1) for name in dict.fromkeys(held) if "::" in name)
    return next((layer for layer in inner if layer is not None), None)


def stays_in_training_mode(places: Iterable[Symbol], calls: CallGraph, summaries: Mapping[str, FileSummary]) -> bool:
    """Whether nothing that may run from here trains, or sets the mode of a module."""
    for path, symbol in calls.possible(frozenset(places)):
        summary = summaries.get(path)
        if summary is None:
            continue
        if symbol in summary.modes_of_modules.setters:
            return False
        if any(one.symbol == symbol and one.part in _TRAINING for one in summary.trainings):
            return False
    return True


def sets_modes_beside(path: str, summaries: Mapping[str, FileSummary]) -> bool:
    """Whether any code of a file, or of one that imports it, sets the mode of a module."""
    return any(
        summary.modes_of_modules.setters
        for summary in summaries.values()
        if summary.path == path or any(one.path == path for one in summary.imports)
    )
