"""Seeds that come after what they should have decided: the order of seeding and drawing in the code that starts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import msgspec

from torchlint.facts.call_edges import Edge
from torchlint.facts.control.order import Moment
from torchlint.facts.grouping import grouped
from torchlint.facts.notation import Symbol, is_in
from torchlint.facts.places import Place
from torchlint.facts.randomness.draws import Draw
from torchlint.facts.randomness.seeding import SeedCall
from torchlint.facts.summary import FileSummary
from torchlint.project.call_details import KnownDetails
from torchlint.project.call_graph import CallGraph
from torchlint.project.programs import Program

_STAYING = ("model", "split", "rows")
"""What is made once, so that a later seed does not decide it."""


class LateSeed(msgspec.Struct, frozen=True):
    """The program's first seeding of a generator, at `place`, and what was drawn before it."""

    place: Place
    seed: SeedCall
    draw: Draw


class _Event(msgspec.Struct, frozen=True):
    """A statement of one function that seeds, or that draws what stays."""

    moment: Moment
    place: Place
    edge: Edge | None
    seed: SeedCall | None
    draw: Draw | None


class SeedOrder:
    """In which order the programs of a project seed and draw."""

    def __init__(
        self,
        calls: CallGraph,
        summaries: Mapping[str, FileSummary],
        details: KnownDetails,
        trainer_arguments: Collection[str],
        *,
        counts_values: bool = False,
    ) -> None:
        """`trainer_arguments` are calls that keep a seed for a trainer, which seeds when it is made itself.

        With `counts_values` numbers that are drawn count as well, which may be gone before anything is trained.
        """
        self._calls = calls
        self._trainer_arguments = trainer_arguments
        self._orders: dict[str, _Order] = {}
        kinds = (*_STAYING, "") if counts_values else _STAYING
        seeds = [one for summary in summaries.values() for one in summary.seeds if self._seeds_at_once(one)]
        drawn = (one for summary in summaries.values() for one in summary.draws)
        draws = [one for one in drawn if one.makes in kinds or one.is_lasting]
        for name in ("torch", "numpy", "random"):
            of_name = grouped(((one.path, one.symbol), one) for one in seeds if name in one.generators)
            drawn_by = grouped(((one.path, one.symbol), one) for one in draws if one.generator == name)
            self._orders[name] = _Order(name, calls, details, of_name, drawn_by)

    def _seeds_at_once(self, seed: SeedCall) -> bool:
        return not (seed.by_argument and seed.name in self._trainer_arguments)

    def late_seed(self, program: Program, possible: Iterable[SeedCall]) -> LateSeed | None:
        """The first seeding that evidently comes after the model or a split was made with its generator.

        None where any of the `possible` seeds may have come before: what is not seen to run counts as run.
        """
        start = (program.path, program.entry.symbol)
        run = self._calls.run([(program.path, ""), start])
        possible = [seed for seed in possible if self._seeds_at_once(seed)]
        for order in self._orders.values():
            if order.is_all_that_seeds(program, run, possible):
                found = order.late_in(start)
                if found is not None:
                    return found
        return None

    def late_of(self, program: Program, generator: str) -> LateSeed | None:
        """The first seeding of one generator that comes after a draw on every way, as far as calls are followed."""
        return self._orders[generator].late_in((program.path, program.entry.symbol))


class _Order(msgspec.Struct, frozen=True):
    """The order of one generator's events."""

    generator: str
    calls: CallGraph
    details: KnownDetails
    seeds: Mapping[Symbol, Sequence[SeedCall]]
    draws: Mapping[Symbol, Sequence[Draw]]

    def is_all_that_seeds(self, program: Program, run: frozenset[Symbol], possible: Iterable[SeedCall]) -> bool:
        """Whether every possible seed is one that the program runs by calls, none of them at import."""
        reached = [seed for place in run if place in self.seeds for seed in self.seeds[place]]
        if not reached or (program.entry.symbol and any(seed.symbol == "" for seed in reached)):
            return False
        own = [seed for seed in possible if self.generator in seed.generators]
        return all(seed in reached and not seed.is_guess for seed in own)

    def late_in(self, symbol: Symbol) -> LateSeed | None:
        """What is late in one function, or in those that are called where both happen: `main()` calls `train()`."""
        entered = set[Symbol]()
        while symbol not in entered:
            entered.add(symbol)
            events = sorted(self._events(symbol), key=lambda event: event.place.location)
            first = next((event for event in events if event.seed is not None), None)
            if first is None or first.seed is None:
                return None
            earlier = (event for event in events if event.seed is None and event.moment.dominates(first.moment))
            drawn = sorted((one.draw for one in earlier if one.draw is not None), key=lambda one: one.makes == "rows")
            if drawn:
                return LateSeed(first.place, first.seed, drawn[0])
            if first.draw is None or first.edge is None or not is_in(first.edge.callee, symbol[0]):
                return None
            symbol = self.calls.callee(first.edge)
        return None

    def _events(self, symbol: Symbol) -> Iterator[_Event]:
        yield from (_Event(own.moment, own.place, None, own, None) for own in self.seeds.get(symbol, ()))
        yield from (_Event(drawn.moment, drawn.place, None, None, drawn) for drawn in self.draws.get(symbol, ()))
        for edge in (one for one in self.calls.edges_from(symbol) if not one.is_reference):
            run = self.calls.entered_by(edge)
            seed = next((self.seeds[at][0] for at in sorted(run & self.seeds.keys())), None)
            draw = next((self.draws[at][0] for at in sorted(run & self.draws.keys())), None)
            found = self.details.of(symbol[0], edge) if seed is not None or draw is not None else None
            if found is not None and found.moment is not None and found.place is not None:
                yield _Event(found.moment, found.place, edge, seed, draw)
