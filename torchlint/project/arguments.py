"""What the calls of a project give its functions, as far as literals tell."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from torchlint.facts.call_edges import Argument, Edge
from torchlint.facts.entries import is_test
from torchlint.facts.summary import FileSummary
from torchlint.project.call_graph import CallGraph, Symbol


class GivenArguments:
    """The literal arguments of all calls, tests aside: how a test calls a function says nothing of how it is used."""

    def __init__(self, summaries: Mapping[str, FileSummary], calls: CallGraph) -> None:
        self._calls: dict[Symbol, list[Edge]] = defaultdict(list)
        for path, summary in summaries.items():
            for edge in () if is_test(path) else summary.edges:
                home, name = calls.callee(edge)
                self._calls[home, name.removesuffix(".__init__")].append(edge)

    def of(self, callee: Symbol, parameter: str, position: int | None) -> list[Argument]:
        """What each call gives for a parameter, by keyword or at a position; `...` where that is open."""
        calls = (edge.arguments for edge in self._calls.get(callee, ()))
        return [call.get(parameter, ... if position is None else call.get(position, ...)) for call in calls]
