"""TL210 mode-never-enabled and TL213 trainer-not-deterministic: a program seeds, trains, and leaves the mode off."""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.checks.registration import ProgramFinding, program_check
from torchlint.diagnostics import Related
from torchlint.facts.entries import is_test
from torchlint.project.index import Project
from torchlint.project.programs import Program
from torchlint.project.randomness import is_meant


@program_check("TL210", "TL213")
def find(program: Program, project: Project) -> Iterator[ProgramFinding]:
    """Seeding says that the program wants to repeat; one of the two rules speaks."""
    if is_test(program.path) or not project.leaves_mode_off(program):
        return
    randomness = project.randomness_of(program)
    seeds = [
        seed for seed in randomness.seeds if "torch" in seed.generators and is_meant(seed, program, project.summaries)
    ]
    if (randomness.training is None and randomness.trainer is None) or not seeds:
        return
    related = [Related(seeds[0].place.location, f"`{seeds[0].name}` seeds")]
    if randomness.trainer is not None and "TL213" in project.settings.selected:
        switch = next(one for one in project.catalogue.programs.mode if one.call == randomness.trainer.name)
        values = {"trainer": randomness.trainer.name, "argument": f"{switch.argument}={switch.on[0]}"}
        related.append(Related(randomness.trainer.place.location, "the trainer is made here"))
        yield ProgramFinding("TL213", program.entry.place, values, related=tuple(related))
    elif randomness.training is not None:
        related.append(Related(randomness.training.place.location, "trains"))
        yield ProgramFinding("TL210", program.entry.place, related=tuple(related))
