"""Whether gradients are seen to flow through a function: asked along the calls of its file, then of the project."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import TYPE_CHECKING

from torchlint.diagnostics import Confidence
from torchlint.facts.differentiation import Evidence, Passage, Passing
from torchlint.facts.entries import is_test
from torchlint.project.call_graph import CallGraph, Symbol

if TYPE_CHECKING:
    from torchlint.facts.summary import FileSummary
    from torchlint.project.index import Project


class Gradients:
    """The differentiated code of a project, worked out as far as it is asked for."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._shown: dict[tuple[str, bool], frozenset[Symbol]] = {}

    def confidence_of(self, passage: Passage, path: str) -> Confidence:
        """High where the file itself shows that a gradient comes back through the function, medium where others do."""
        place = path, passage.symbol
        summary = self._project.known.get(path) or self._project.summaries[path]
        signals = passage.asks is Evidence.SIGNAL
        if passage.asks is not Evidence.PREDICTION and place in self._shown_by(summary, from_losses_alone=signals):
            return Confidence.HIGH
        handed = self._handed if passage.asks is Evidence.ANY else self._handed_predictions
        return Confidence.MEDIUM if place in handed else Confidence.LOW

    def _shown_by(self, summary: FileSummary, *, from_losses_alone: bool) -> frozenset[Symbol]:
        """What is differentiated by what one file shows: where it begins, and all that this calls in the file."""
        key = summary.path, from_losses_alone
        if key not in self._shown:
            starts = summary.losses if from_losses_alone else summary.losses | summary.forwards
            calls = CallGraph({summary.path: summary})
            found = _followed(calls, [(summary.path, one) for one in starts], Passing.CARRIED)
            self._shown[key] = frozenset(place for place in found if place[0] == summary.path)
        return self._shown[key]

    @functools.cached_property
    def _handed(self) -> frozenset[Symbol]:
        """What is called from any differentiated code with something that may carry a gradient."""
        return self._handed_from(from_losses_alone=False)

    @functools.cached_property
    def _handed_predictions(self) -> frozenset[Symbol]:
        """What is called with something predicted from losses, or from what they hand gradients to."""
        calls = self._project.programs.calls
        places = self._handed_from(from_losses_alone=True)
        edges = (edge for place in places for edge in calls.edges_from(place))
        return frozenset(calls.callee(edge) for edge in edges if edge.passing is Passing.PREDICTED)

    def _handed_from(self, *, from_losses_alone: bool) -> frozenset[Symbol]:
        summaries = self._project.summaries
        shown = (
            self._shown_by(summary, from_losses_alone=from_losses_alone)
            for path, summary in summaries.items()
            if not is_test(path)
        )
        return _followed(self._project.programs.calls, frozenset().union(*shown), Passing.CARRIED)


def _followed(calls: CallGraph, starts: Iterable[Symbol], least: Passing) -> frozenset[Symbol]:
    """These places, and what is called from them on by calls that pass on so much."""
    found = set(starts)
    waiting = list(found)
    while waiting:
        for edge in calls.edges_from(waiting.pop()):
            callee = calls.callee(edge)
            if edge.passing >= least and callee not in found:
                found.add(callee)
                waiting.append(callee)
    return frozenset(found)
