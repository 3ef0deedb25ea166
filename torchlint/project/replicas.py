"""What the replicas of a wrapped model run: the `forward` of its class, and of every module that it makes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from torchlint.facts.summary import FileSummary
from torchlint.facts.training.training_mode import SharedDraw
from torchlint.facts.words import says
from torchlint.project.call_graph import CallGraph, Symbol

_MADE_AND_RUN = ("__init__", "forward")


class Replicas(msgspec.Struct, frozen=True):
    """`draw`: the first draw in a `forward` from a generator that the threads share."""

    draw: SharedDraw | None
    is_settled: bool
    """Whether the model evidently neither draws nor looks at a whole batch."""


def replicas_of(made: Iterable[str], calls: CallGraph, summaries: Mapping[str, FileSummary]) -> Replicas:
    """The replicas of what these classes, or functions that make modules (`path::name`), give."""
    start = []
    for name in made:
        path, _, qualname = name.partition("::")
        start += [(path, qualname), *(calls.defining((path, f"{qualname}.{method}")) for method in _MADE_AND_RUN)]
    whole = calls.run(start)
    forwards = [
        (path, symbol)
        for path, symbol in whole
        if symbol.endswith(".forward") and path in summaries and symbol in summaries[path].functions
    ]
    run = calls.run(forwards, without=_is_for_prediction)
    draws = [
        draw
        for path in sorted({path for path, _ in run} & summaries.keys())
        for draw in summaries[path].shared_draws
        if draw.symbol and (path, draw.symbol) in run
    ]
    unsettled = any(symbol and path in summaries and symbol in summaries[path].unsettled for path, symbol in whole)
    return Replicas(draws[0] if draws else None, bool(forwards) and not unsettled)


def _is_for_prediction(place: Symbol) -> bool:
    return says(place[1].rpartition(".")[2], "beside_training")
