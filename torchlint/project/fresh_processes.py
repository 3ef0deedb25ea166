"""Processes that a program starts: what it seeds in its first process does not reach them, or not all of it."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from torchlint.facts.call_edges import Edge
from torchlint.facts.notation import symbol_of
from torchlint.facts.randomness.draws import Draw
from torchlint.project.index import Project
from torchlint.project.programs import Program
from torchlint.project.randomness import Randomness

_REPLACED = "random"
"""The generator that Python seeds anew in a worker process."""


class FreshProcess(msgspec.Struct, frozen=True):
    """A process that trains: the call that starts it, and the first draws from what its program seeds elsewhere."""

    path: str
    """The file of the call."""
    edge: Edge
    randomness: Randomness
    unseeded: tuple[Draw, ...]


def unseeded_processes(program: Program, project: Project) -> Iterator[FreshProcess]:
    """The processes that train with generators which the program seeds in its first process alone."""
    seeded = project.randomness_of(program).reached_generators
    for path, symbol in sorted(program.reached):
        for edge in project.programs.calls.edges_from((path, symbol)):
            if not edge.starter:
                continue
            # Such a process imports the file of the function that it is started with, and runs that.
            home, started = symbol_of(edge.callee)
            reached = project.programs.calls.reached([(home, ""), (home, started)])
            entry, files = replace(program.entry, symbol=started), frozenset(file for file, _ in reached)
            randomness = project.randomness_of(Program(home, entry, reached, files))
            unseeded = tuple(draw for draw in randomness.unseeded if draw.generator in seeded)
            if randomness.training is not None and unseeded:
                yield FreshProcess(path, edge, randomness, unseeded)


class WorkerDraw(msgspec.Struct, frozen=True):
    """A draw from Python's `random` in worker processes, which seed it anew, and the call that runs it there."""

    path: str
    """The file of the call."""
    edge: Edge
    draw: Draw


def worker_draws(program: Program, project: Project) -> Iterator[WorkerDraw]:
    """The draws from Python's `random` in workers that nothing seeds there, of a program that seeds it elsewhere."""
    calls, randomness = project.programs.calls, project.randomness_of(program)
    if _REPLACED not in randomness.reached_generators:
        return
    ran = calls.run([(program.path, ""), (program.path, program.entry.symbol)])
    seeding = {(one.path, one.symbol) for one in randomness.possible_seeds if _REPLACED in one.generators}
    if not seeding <= ran:
        return  # an initializer, perhaps
    for path, symbol in sorted(ran):
        for edge in (one for one in calls.edges_from((path, symbol)) if one.worker):
            inside = calls.entered_by(edge)
            loaded = [project.summaries[file] for file in {file for file, _ in inside} & project.summaries.keys()]
            draws = (draw for one in loaded for draw in one.draws if (draw.path, draw.symbol) in inside)
            replaced = (draw for draw in draws if draw.generator == _REPLACED)
            drawn = sorted(replaced, key=lambda draw: draw.place.location)
            if drawn and seeding.isdisjoint(calls.reached(inside)):
                yield WorkerDraw(path, edge, drawn[0])
