"""Where calls of a project stand and what they hand on: worked out function by function when it is asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from torchlint.facts.call_edges import Argument, CallDetails, Edge, call_details
from torchlint.facts.entries import is_test
from torchlint.facts.memoizing import memoized
from torchlint.facts.notation import Symbol
from torchlint.facts.places import Place, bodies_of
from torchlint.facts.summary import FileSummary
from torchlint.facts.watch import Watch
from torchlint.project.answers import Answering, Interview
from torchlint.project.call_graph import CallGraph

_NOTHING = CallDetails()


class KnownDetails(Answering):
    """Where the calls behind edges of the call graph stand, and what they hand on."""

    def __init__(self, interview: Interview, watch: Watch) -> None:
        self._interview = interview
        self._watch = watch
        super().__init__()

    def of(self, path: str, edge: Edge) -> CallDetails:
        """Those of an edge of a file; empty ones for what is no call."""
        known = self._of_symbol(path, edge.symbol)
        return known[edge.number] if 0 <= edge.number < len(known) else _NOTHING

    @memoized
    def _of_symbol(self, path: str, symbol: str) -> tuple[CallDetails, ...]:
        question, kind = ("call details", symbol), tuple[CallDetails, ...]
        found = self._interview.answer(path, question, kind, lambda one: tuple(call_details(one, self._watch, symbol)))
        return found or ()

    def body(self, path: str, symbol: str) -> Place | None:
        """The first statement of a function; of several of one name, of the last."""
        question, kind = ("body", symbol), tuple[Place, ...]
        found = self._interview.answer(path, question, kind, lambda facts: tuple(bodies_of(facts, symbol)))
        return (found or (None,))[-1]


class GivenArguments:
    """The literal arguments of all calls, tests aside: how a test calls a function says nothing of how it is used."""

    def __init__(self, summaries: Mapping[str, FileSummary], graph: CallGraph, details: KnownDetails) -> None:
        self._summaries, self._graph, self._details = summaries, graph, details

    def of(self, callee: Symbol, parameter: str, position: int | None) -> Iterator[Argument]:
        """What each call gives for a parameter, by keyword or at a position; `...` where that is open."""
        calls = (self._details.of(path, edge).arguments for path, edge in self._calls(callee))
        return (call.get(parameter, ... if position is None else call.get(position, ...)) for call in calls)

    def _calls(self, callee: Symbol) -> Iterator[tuple[str, Edge]]:
        """The calls of a function, or of a class, each with its file."""
        runs = (callee, (callee[0], f"{callee[1]}.__init__"))
        paths = {path for one in runs for path, _ in self._graph.callers_of(one)}
        edges = ((path, edge) for path in sorted(paths) if not is_test(path) for edge in self._summaries[path].edges)
        return ((path, edge) for path, edge in edges if self._graph.callee(edge) in runs)
