"""Processes that a program starts anew: what it seeds in its first process does not reach them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

from torchlint.facts.call_edges import Edge
from torchlint.facts.randomness.draws import Draw
from torchlint.project.index import Project
from torchlint.project.programs import Program
from torchlint.project.randomness import Randomness


@dataclass(frozen=True, slots=True)
class FreshProcess:
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
            randomness = _randomness_of(program, edge, project)
            unseeded = tuple(draw for draw in randomness.unseeded if draw.generator in seeded)
            if randomness.training is not None and unseeded:
                yield FreshProcess(path, edge, randomness, unseeded)


def _randomness_of(program: Program, edge: Edge, project: Project) -> Randomness:
    """Such a process imports the file of the function that it is started with, and runs that."""
    path, _, symbol = edge.callee.partition("::")
    reached = project.programs.calls.reached([(path, ""), (path, symbol)])
    entry = dataclasses.replace(program.entry, symbol=symbol)
    return project.randomness_of(Program(path, entry, reached, frozenset(file for file, _ in reached)))
