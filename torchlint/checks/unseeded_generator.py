"""TL301 unseeded-generator: a program trains and draws from a generator that nothing seeds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from torchlint.checks.registration import ProgramFinding, program_check
from torchlint.diagnostics import Related
from torchlint.facts.entries import is_example
from torchlint.facts.file import MAIN
from torchlint.facts.places import Place
from torchlint.facts.randomness.draws import Draw
from torchlint.project.index import Project
from torchlint.project.programs import Program
from torchlint.project.randomness import Randomness

_CODE = "TL301"
_NAMES = {"torch": "torch", "numpy": "numpy.random", "random": "random"}
_SEEDING = {
    "torch": "torch.manual_seed(seed)",
    "numpy": "numpy.random.seed(seed)",
    "random": "random.seed(seed)",
}
_MEASURING = re.compile(r"bench|profil|speed|test|check|debug|smoke|demo")
_STARTING = re.compile(r"train|main|run|fit|tune|cli|launch|experiment")
"""File names of modules that are programs, although they lie in a package."""


@program_check(_CODE)
def find(program: Program, project: Project) -> Iterator[ProgramFinding]:
    """One finding for a program, naming every library that it draws from and does not seed."""
    randomness = project.randomness_of(program)
    unseeded = randomness.unseeded
    if randomness.training is None or not unseeded or _is_demonstration(program, randomness, project):
        return
    values = {
        "missing": _listed([_NAMES[draw.generator] for draw in unseeded]),
        "seeded": _listed([_NAMES[name] for name in _NAMES if name in _generators(randomness)]),
        "cures": _listed([f"`{_SEEDING[draw.generator]}`" for draw in unseeded]),
        "drawn": _drawn(unseeded[0]),
    }
    place = _place(program, unseeded)
    yield ProgramFinding(_CODE, place, values, _message(randomness), related=tuple(_related(randomness)))


def _place(program: Program, unseeded: Sequence[Draw]) -> Place:
    """The entry point; in a script or notebook the first statement that draws, if it stands in its own text."""
    own = [draw.place for draw in unseeded if draw.path == program.path and not draw.symbol]
    return own[0] if own and not program.entry.symbol else program.entry.place


def _is_demonstration(program: Program, randomness: Randomness, project: Project) -> bool:
    """Whether the main guard of a module only tries the module out, or measures something."""
    name = PurePosixPath(program.path).name
    if _MEASURING.search(name) or (program.entry.is_trial and not is_example(program.path)):
        return True
    in_package = f"{program.path.rpartition('/')[0]}/__init__.py".lstrip("/") in project.sources
    training = randomness.training
    # A module that is a program keeps its training in functions; under the guard itself stands a trial of the module.
    trains_itself = training is not None and training.path == program.path and training.symbol != MAIN
    return in_package and not trains_itself and not _STARTING.search(name)


def _message(randomness: Randomness) -> str:
    seeded = _generators(randomness)
    if seeded & _NAMES.keys():
        return "partial"
    return "cuda_only" if "torch.cuda" in seeded else "default"


def _generators(randomness: Randomness) -> frozenset[str]:
    return frozenset[str]().union(*(seed.generators for seed in randomness.seeds))


def _drawn(draw: Draw) -> str:
    location = draw.place.location
    return f"`{draw.name}` in {location.path}:{location.line}"


def _related(randomness: Randomness) -> Iterator[Related]:
    for draw in randomness.unseeded:
        yield Related(draw.place.location, f"draws from {_NAMES[draw.generator]}")
    for seed in randomness.seeds[:1]:
        yield Related(seed.place.location, f"`{seed.name}` seeds {_listed(sorted(seed.generators))}")
    if randomness.training is not None:
        yield Related(randomness.training.place.location, "trains")


def _listed(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
