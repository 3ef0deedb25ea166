"""Where calls of a project stand and what they hand on: worked out function by function when it is asked."""

from __future__ import annotations

from dataclasses import dataclass

from torchlint.facts.call_edges import CallDetails, Edge, call_details
from torchlint.facts.memoizing import memoized
from torchlint.facts.places import Place, bodies_of
from torchlint.facts.watch import Watch
from torchlint.project.answers import Answering, Interview


@dataclass(eq=False)
class KnownDetails(Answering):
    """Where the calls behind edges of the call graph stand, and what they hand on."""

    interview: Interview
    watch: Watch

    def of(self, path: str, edge: Edge) -> CallDetails:
        """Those of an edge of a file; empty ones for what is no call."""
        known = self._of_symbol(path, edge.symbol)
        return known[edge.number] if 0 <= edge.number < len(known) else CallDetails()

    @memoized
    def _of_symbol(self, path: str, symbol: str) -> tuple[CallDetails, ...]:
        question, kind = ("call details", symbol), tuple[CallDetails, ...]
        found = self.interview.answer(path, question, kind, lambda one: tuple(call_details(one, self.watch, symbol)))
        return found or ()

    def body(self, path: str, symbol: str) -> Place | None:
        """The first statement of a function; of several of one name, of the last."""
        question, kind = ("body", symbol), tuple[Place, ...]
        found = self.interview.answer(path, question, kind, lambda facts: tuple(bodies_of(facts, symbol)))
        return (found or (None,))[-1]
