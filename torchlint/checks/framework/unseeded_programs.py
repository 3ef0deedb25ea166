"""Programs that draw from a generator which nothing seeds: which of them count, and where they lack the seed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from torchlint.facts.entries import is_example, is_measuring
from torchlint.facts.file import MAIN
from torchlint.facts.places import Place
from torchlint.facts.randomness.draws import Draw
from torchlint.facts.randomness.saved import Saved
from torchlint.facts.training.steps import Training
from torchlint.project.index import Project
from torchlint.project.placing import first_statement, place_leading_to
from torchlint.project.programs import Program
from torchlint.project.randomness import is_meant

_STARTING = re.compile(r"train|main|run|fit|tune|cli|launch|experiment")
"""File names of modules that are programs, although they lie in a package."""


def is_demonstration(program: Program, work: Training | Saved, project: Project) -> bool:
    """Whether the main guard of a module only tries the module out, or measures something."""
    name = PurePosixPath(program.path).name
    if is_measuring(program.path) or (program.entry.is_trial and not is_example(program.path)):
        return True
    in_package = project.is_in_package(program.path)
    # A module that is a program keeps its work in functions; under the guard itself stands a trial of the module.
    works_itself = work.path == program.path and work.symbol != MAIN
    return in_package and not works_itself and not _STARTING.search(name)


def place_of_seed(program: Program, unseeded: Sequence[Draw], work: Training | Saved, project: Project) -> Place:
    """Where the seed is missing: beside the program's own seeds, else where the program begins.

    A script begins at its first statement that draws, if that stands in its own text.
    """
    seeds = project.randomness_of(program).seeds
    seed = next((one for one in seeds if is_meant(one, program, project.summaries)), None)
    if seed is not None:
        return place_leading_to((seed.path, seed.symbol), seed.place, program, project)
    own = [draw.place for draw in unseeded if draw.path == program.path and not draw.symbol]
    place = first_statement(program, [(one.path, one.symbol) for one in (*unseeded, work)], project)
    return min(own, key=lambda one: one.location) if own and not program.entry.symbol else place
