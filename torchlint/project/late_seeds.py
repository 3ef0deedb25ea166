"""Seeds that come after what they should have decided: the order of seeding and drawing in the code that starts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from torchlint.facts.call_edges import Edge
from torchlint.facts.places import Moment, Place
from torchlint.facts.randomness.draws import Draw
from torchlint.facts.randomness.seeding import SeedCall
from torchlint.facts.summary import FileSummary
from torchlint.project.call_graph import CallGraph, Symbol
from torchlint.project.programs import Program

_DEPTH = 4
"""Functions entered one after another: `main()` calls `train()`."""


@dataclass(frozen=True, slots=True)
class LateSeed:
    """The program's first seeding of a generator, at `place`, and what was drawn before it."""

    place: Place
    seed: SeedCall
    draw: Draw


@dataclass(frozen=True, slots=True)
class _Event:
    """A statement of one function that seeds, or that draws what stays."""

    moment: Moment
    place: Place
    edge: Edge | None
    seed: SeedCall | None
    draw: Draw | None


def late_seed(program: Program, calls: CallGraph, summaries: Mapping[str, FileSummary]) -> LateSeed | None:
    """The first seeding that evidently comes after the model or a split was made with its generator.

    None where anything that is loaded may have seeded before: what is not seen to run counts as run.
    """
    for generator in ("torch", "numpy"):
        order = _Order(generator, calls, summaries)
        if order.may_be_seeded_elsewhere(program):
            continue
        found = order.late_in((program.path, program.entry.symbol))
        if found is not None:
            return found
    return None


class _Order:
    """The order of one generator's events."""

    def __init__(self, generator: str, calls: CallGraph, summaries: Mapping[str, FileSummary]) -> None:
        self._generator = generator
        self._calls = calls
        self._summaries = summaries

    def may_be_seeded_elsewhere(self, program: Program) -> bool:
        """Whether something that names do not lead to may seed, or something that is imported does."""
        reached = set(self._seeds(self._calls.run([(program.path, ""), (program.path, program.entry.symbol)])))
        if program.entry.symbol and any(seed.symbol == "" for seed in reached):
            return True
        return any(seed not in reached for seed in self._seeds(self._calls.possible(program.reached)))

    def late_in(self, symbol: Symbol, depth: int = _DEPTH) -> LateSeed | None:
        events = sorted(self._events(symbol), key=lambda event: event.place.location)
        first = next((event for event in events if event.seed is not None), None)
        if first is None or first.seed is None or depth == 0:
            return None
        for event in events:
            if event.draw is not None and event.seed is None and event.moment.is_surely_before(first.moment):
                return LateSeed(first.place, first.seed, event.draw)
        if first.draw is None or first.edge is None:
            return None
        path, _, qualname = first.edge.callee.partition("::")
        return self.late_in(self._calls.defining((path, qualname)), depth - 1) if path == symbol[0] else None

    def _events(self, symbol: Symbol) -> Iterator[_Event]:
        summary = self._summaries.get(symbol[0])
        if summary is None:
            return
        for seed in summary.seeds:
            if seed.symbol == symbol[1] and self._generator in seed.generators:
                yield _Event(seed.moment, seed.place, None, seed, None)
        for draw in summary.draws:
            if draw.symbol == symbol[1] and self._stays(draw):
                yield _Event(draw.moment, draw.place, None, None, draw)
        for edge in self._calls.edges_from(symbol):
            if edge.moment is not None and edge.place is not None and not edge.is_reference:
                yield from self._event_of(edge, edge.moment, edge.place)

    def _event_of(self, edge: Edge, moment: Moment, place: Place) -> Iterator[_Event]:
        path, _, qualname = edge.callee.partition("::")
        run = self._calls.run([self._calls.defining((path, name)) for name in (qualname, f"{qualname}.__init__")])
        seed = next(self._seeds(run), None)
        draw = next(self._draws(run), None)
        if seed is not None or draw is not None:
            yield _Event(moment, place, edge, seed, draw)

    def _seeds(self, places: frozenset[Symbol]) -> Iterator[SeedCall]:
        for path, symbol in sorted(places):
            for seed in self._summaries[path].seeds if path in self._summaries else ():
                if seed.symbol == symbol and self._generator in seed.generators:
                    yield seed

    def _draws(self, places: frozenset[Symbol]) -> Iterator[Draw]:
        for path, symbol in sorted(places):
            for draw in self._summaries[path].draws if path in self._summaries else ():
                if draw.symbol == symbol and self._stays(draw):
                    yield draw

    def _stays(self, draw: Draw) -> bool:
        return draw.generator == self._generator and bool(draw.makes)
