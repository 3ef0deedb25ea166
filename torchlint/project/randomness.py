"""What a program draws from, what seeds it, and whether it trains or saves what it draws."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

import msgspec
from msgspec.structs import replace

from torchlint.facts.data_loading.loaders import Where
from torchlint.facts.graphs import reached
from torchlint.facts.grouping import grouped
from torchlint.facts.notation import Symbol, name_in, symbol_of
from torchlint.facts.randomness.draws import Draw
from torchlint.facts.randomness.origins import Drawn
from torchlint.facts.randomness.saved import Saved, SavedResults, saved_results
from torchlint.facts.randomness.seeding import SeedCall, restores_generators
from torchlint.facts.summary import Extract, FileSummary
from torchlint.facts.training.steps import Part, Training
from torchlint.facts.words import says
from torchlint.project.call_graph import CallGraph
from torchlint.project.programs import Program
from torchlint.project.trainings import parts_of_training, training_in, trainings_in

ENGINE = "engine"
"""In the place of a generator: what schedules batches as it goes, and no seed settles."""
_WHOLE = re.compile(r"_?(?:main|run|start|launch|worker|entry)")
"""Beginnings of what the function is called that is a program: `main_worker`, `run_experiment`."""
_LOADING = ("__getitem__", "__iter__", "__call__")
"""Methods that a data loader runs, perhaps in its workers."""


RESTORES = Extract("restores", bool, restores_generators)
"""Whether a call of a file sets a generator to a state that was kept."""
SAVED = Extract("saved", SavedResults, saved_results)


class SavedDraw(msgspec.Struct, frozen=True):
    """A draw that decides what `saved` writes."""

    draw: Draw
    saved: Saved

    @property
    def is_prepared(self) -> bool:
        """Whether it is an order or a split: drawn by a script without torch, maybe, for others that train."""
        return self.draw.makes in ("order", "split")


class Randomness(msgspec.Struct, frozen=True):
    """`draws` holds the first draw from each generator."""

    draws: tuple[Draw, ...]
    worker_draws: tuple[Draw, ...]
    """The first draws in what only data loaders run, perhaps in worker processes."""
    seeds: tuple[SeedCall, ...]
    """The calls that seed and are reached."""
    possible_seeds: tuple[SeedCall, ...]
    """These, and those that something else may lead to."""
    idle_seeds: tuple[SeedCall, ...]
    """The calls that would seed and never run."""
    training: Training | None
    seeded_training: Training | None
    """Where the program trains by a library's trainer that seeds by itself."""
    trainer: Training | None
    """Where a library's trainer is made that is not told about the determinism mode."""
    seeders: tuple[Training, ...]
    """Where a library seeds that could turn the mode on with it, and is not told."""

    @property
    def trained(self) -> Training | None:
        """Where the program is seen to train, whoever seeds; else where a library's trainer is made."""
        return self.training or self.seeded_training or self.trainer

    @property
    def seeded(self) -> frozenset[str]:
        """The generators that something seeds, or may seed."""
        return frozenset[str]().union(*(seed.generators for seed in self.possible_seeds))

    @property
    def reached_generators(self) -> frozenset[str]:
        """The generators that a call in reach seeds."""
        return frozenset[str]().union(*(seed.generators for seed in self.seeds))

    @property
    def unseeded(self) -> tuple[Draw, ...]:
        """The first draws from the generators that nothing seeds."""
        seeded = self.seeded
        return tuple(draw for draw in self.draws if draw.generator not in seeded)

    @property
    def seeded_on_demand(self) -> tuple[Draw, ...]:
        """The first draws from the generators that are seeded only where the user gives an option."""
        by_default = (seed.generators for seed in self.possible_seeds if not seed.option)
        seeded = frozenset[str]().union(*by_default)
        return tuple(draw for draw in self.draws if draw.generator in self.seeded - seeded)

    def unseeded_among(self, saved: Sequence[SavedDraw]) -> tuple[SavedDraw, ...]:
        """The first of them for each generator that nothing seeds."""
        first = grouped((one.draw.generator, one) for one in saved)
        return tuple(alike[0] for name, alike in first.items() if name not in self.seeded and name != ENGINE)


def randomness_of(
    program: Program,
    calls: CallGraph,
    summaries: Mapping[str, FileSummary],
    option_for: Callable[[SeedCall], str | None],
    is_never: Callable[[Draw], bool],
) -> Randomness:
    """What a program draws for certain, and what may seed it.

    `option_for` says what a user must give for a seed: None where nothing brings it about. `is_never` tells a draw that
    the arguments of all calls leave out.

    In worker processes torch seeds all three generators itself, so what a data set draws there needs no seed but
    torch's: such draws count only where the loaders evidently have no workers.
    """
    start = [(program.path, ""), (program.path, program.entry.symbol)]
    run = calls.run(start)
    methods = ((path, f"{name}.{method}") for path, name in run if path in summaries for method in _LOADING)
    handed = (calls.callee(edge) for place in run for edge in calls.edges_from(place) if edge.is_loading)
    loading = calls.run([*(place for place in methods if place[1] in summaries[place[0]].functions), *handed])
    loaders = ((path, loader) for path, summary in summaries.items() for loader in summary.workers)
    made = [loader.where for path, loader in loaders if (path, loader.symbol) in run]
    is_in_main_process = bool(made) and all(where is Where.MAIN_PROCESS for where in made)
    drawing = run | loading if is_in_main_process else run
    seeds = _seeds(calls.possible(program.reached), run, summaries)
    asked = [(seed, option_for(seed) if seed.demands or seed.symbol or seed.without_cuda else "") for seed in seeds]
    possible = tuple(replace(seed, option=option) for seed, option in asked if option is not None)
    parts = parts_of_training(run, summaries)
    return Randomness(
        draws=tuple(_first_draws(drawing, summaries, program.path, is_never)),
        worker_draws=tuple(_first_draws(loading - drawing, summaries, program.path, is_never)),
        seeds=tuple(seed for seed in possible if (seed.path, seed.symbol) in program.reached),
        possible_seeds=possible,
        idle_seeds=tuple(seed for seed, option in asked if option is None and (seed.path, seed.symbol) in run),
        training=training_in(run, summaries),
        seeded_training=parts.get(Part.SEEDED),
        trainer=parts.get(Part.TRAINER),
        seeders=tuple(one for one in trainings_in(run, summaries) if one.part is Part.SEEDER),
    )


def is_meant(seed: SeedCall, program: Program, summaries: Mapping[str, FileSummary]) -> bool:
    """Whether the program's own file seeds, or calls what does: a library that seeds for itself says nothing of it.

    A script may be a start alone, and a function beside it the program. A module of the same project that seeds when it
    is imported does so for whoever imports it.
    """
    if seed.path == program.path:
        return True
    if not seed.symbol and (seed.path, "") in program.reached:
        return not _is_built_apart(seed.path, program.path, summaries)
    makers = {name_in(seed.path, seed.symbol), name_in(seed.path, seed.symbol.rpartition(".")[0])}
    called = {edge.callee for edge in summaries[program.path].edges if not edge.is_reference}
    return not called.isdisjoint(makers) or any(
        edge.callee in makers
        and name_in(path, edge.symbol) in called
        and (_WHOLE.match(edge.symbol) is not None or says(edge.symbol, "training"))
        for path in {symbol_of(one)[0] for one in called} & summaries.keys()
        if not _is_built_apart(path, program.path, summaries)
        for edge in summaries[path].edges
    )


def _is_built_apart(path: str, start: str, summaries: Mapping[str, FileSummary]) -> bool:
    """Whether a file lies in a package that is installed by itself, and what starts does not."""
    apart = (folder for folder in PurePosixPath(path).parents if not PurePosixPath(start).is_relative_to(folder))
    return any(f"{folder}/setup.py" in summaries for folder in apart)


def _seeds(
    places: frozenset[Symbol], run: frozenset[Symbol], summaries: Mapping[str, FileSummary]
) -> tuple[SeedCall, ...]:
    """The seeds in these places; what loaders alone call, in their workers, seeds nothing here."""
    in_workers = {name for summary in summaries.values() for name in summary.worker_inits}
    seeds = (one for summary in summaries.values() for one in summary.seeds if (one.path, one.symbol) in places)
    return tuple(s for s in seeds if (s.path, s.symbol) in run or name_in(s.path, s.symbol) not in in_workers)


def _first_draws(
    run: frozenset[Symbol], summaries: Mapping[str, FileSummary], entry: str, is_never: Callable[[Draw], bool]
) -> Iterator[Draw]:
    """The first draw from each generator: in the entry's own file, else by path.

    What only draws when it is used, such as a layer of dropout, and weights that others replace come last.
    """
    paths = sorted({path for path, _ in run} & summaries.keys(), key=lambda path: (path != entry, path))
    replaces = any((path, symbol) in run for path in paths for symbol in summaries[path].loads_weights)
    ranks = {"object": 2, "model": int(replaces)}
    found: dict[str, Draw] = {}
    told = (draw for path in paths for draw in sorted(summaries[path].draws, key=lambda draw: draw.place.location))
    drawn = [draw for draw in told if (draw.path, draw.symbol) in run]
    for draw in sorted(drawn, key=lambda draw: ranks.get(draw.makes, 0)):
        if draw.generator not in found and not is_never(draw):
            found[draw.generator] = draw
    yield from (found[generator] for generator in ("torch", "numpy", "random") if generator in found)


def saved_draws(
    run: frozenset[Symbol], summaries: Mapping[str, FileSummary], drawn_by: Callable[[str], Iterable[Drawn]]
) -> Iterator[SavedDraw]:
    """What code writes to files that depends on draws; `drawn_by` gives a file's functions whose results do."""
    for path in sorted({path for path, _ in run} & summaries.keys()):
        for saved in SAVED.of(summaries[path]).calls:
            home = summaries.get(symbol_of(saved.by.function)[0]) if saved.by is not None else None
            is_written = saved.by is None or (home is not None and saved.by in SAVED.of(home).writers)
            if is_written and (path, saved.symbol) in run:
                yield from (SavedDraw(draw, saved) for draw in _behind(saved.drawn, drawn_by))


def _behind(drawn: Drawn, drawn_by: Callable[[str], Iterable[Drawn]]) -> Iterator[Draw]:
    """The draws that decide a result, in this file or in the functions of others that make a part of it."""

    def made_by(one: Drawn) -> Iterator[Drawn]:
        for path, qualname in map(symbol_of, one.callees):
            yield from (made for made in drawn_by(path) if made.symbol == qualname)

    return (draw for one in reached([drawn], made_by) for draw in one.draws)
