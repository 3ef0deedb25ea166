"""TL210 mode-never-enabled and TL213 trainer-not-deterministic: a program seeds, trains, and leaves the mode off."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchlint.checks.registration import ProgramFinding, program_check
from torchlint.diagnostics import Related
from torchlint.facts.entries import is_test
from torchlint.facts.randomness.seeding import SeedCall
from torchlint.facts.training.steps import Part, Training
from torchlint.project.index import Project
from torchlint.project.programs import Program
from torchlint.project.randomness import Randomness, is_meant


@program_check("TL210", "TL213")
def find(program: Program, project: Project) -> Iterator[ProgramFinding]:
    """Seeding says that the program wants to repeat; one of the two rules speaks."""
    if is_test(program.path) or not project.leaves_mode_off(program) or not project.devices_for(program.path):
        return  # on the CPU the mode changes next to nothing
    randomness = project.randomness_of(program)
    seeds = _wanted_seeds(randomness, program, project)
    if (randomness.training is None and randomness.trainer is None) or not seeds:
        return
    related = [Related(seeds[0].place.location, f"`{seeds[0].name}` seeds")]
    untold = randomness.trainer or _untold_seeder(randomness, seeds)
    if untold is not None and "TL213" in project.settings.selected:
        yield _of_library(untold, related, program, project)
    elif randomness.training is not None:
        related.append(Related(randomness.training.place.location, "trains"))
        yield ProgramFinding("TL210", program.entry.place, related=tuple(related))


def _wanted_seeds(randomness: Randomness, program: Program, project: Project) -> list[SeedCall]:
    """The calls that seed torch because the program asks for it; of calls with a `seed=`, those of known trainers."""
    catalogue = project.catalogue
    unasked = {call for entry in catalogue.randomness.seeder if entry.unasked for call in entry.calls}
    trainers = {switch.call for switch in catalogue.programs.mode if switch.makes_trainer}
    return [
        seed
        for seed in randomness.seeds
        if "torch" in seed.generators
        and seed.name not in unasked
        and (not seed.by_argument or seed.name in trainers)
        and is_meant(seed, program, project.summaries)
    ]


def _untold_seeder(randomness: Randomness, seeds: Sequence[SeedCall]) -> Training | None:
    """The library's seeding call that could turn the mode on, in a program with a training loop of its own."""
    if randomness.training is None or randomness.training.part is not Part.BACKWARD:
        return None
    wanted = {seed.place for seed in seeds}
    return next((seeder for seeder in randomness.seeders if seeder.place in wanted), None)


def _of_library(untold: Training, related: list[Related], program: Program, project: Project) -> ProgramFinding:
    switch = next(one for one in project.catalogue.programs.mode if one.call == untold.name)
    argument = f"{switch.argument}={switch.on[0]}"
    if untold.part is Part.SEEDER:
        values = {"seeder": untold.name, "argument": argument, "since": switch.since}
        place = Related(untold.place.location, f"`{untold.name}` seeds")
        return ProgramFinding("TL213", program.entry.place, values, "seeder", related=(place,))
    values = {"trainer": untold.name, "argument": argument}
    place = Related(untold.place.location, "the trainer is made here")
    return ProgramFinding("TL213", program.entry.place, values, related=(*related, place))
