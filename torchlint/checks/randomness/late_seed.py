"""TL303 late-seed: a program seeds after it has made its model or split its data."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from torchlint.checks.framework.registration import ProgramFinding, program_check
from torchlint.diagnostics import Related, Severity
from torchlint.facts.words import says
from torchlint.project.index import Project
from torchlint.project.programs import Program
from torchlint.project.randomness import is_meant

_CODE = "TL303"
_MADE = {
    "model": "the model's weights were drawn",
    "split": "the data was split",
    "order": "the data was shuffled",
    "rows": "rows of the embedding were drawn",
}


@program_check(_CODE)
def find(program: Program, project: Project) -> Iterator[ProgramFinding]:
    """The first seeding, where something that stays was drawn before it."""
    randomness = project.randomness_of(program)
    late = project.seed_order.late_seed(program, randomness.possible_seeds)
    # Weights that nothing trains, or of a program that shows what a model does, are mostly loaded further on.
    trains = randomness.trained is not None and not _is_for_results(program.path)
    is_made_for_good = late is not None and (late.draw.makes == "split" or trains)
    if late is None or not is_made_for_good or not project.uses_torch(program.path):
        return
    if not is_meant(late.seed, program, project.summaries):
        return
    location = late.draw.place.location
    values = {"made": _MADE[late.draw.makes], "drawn": f"`{late.draw.name}` in {location.shown_line}"}
    related = [Related(location, f"`{late.draw.name}` draws before the seed")]
    if late.seed.place != late.place:
        related.append(Related(late.seed.place.location, f"`{late.seed.name}` seeds"))
    unasked = {call for entry in project.catalogue.randomness.seeder if entry.unasked for call in entry.calls}
    values["seeder"] = late.seed.name.rpartition(".")[2]
    message = "trainer" if late.seed.name in unasked else "default"
    # New rows start close to the mean of the others, and mostly stand for padding.
    severity = Severity.INFO if late.draw.makes == "rows" else None
    yield ProgramFinding(_CODE, late.place, values, message, severity=severity, related=tuple(related))


def _is_for_results(path: str) -> bool:
    """Whether a program runs a trained model, by the name of its file, even where it fits what comes out of it."""
    stem = PurePosixPath(path).stem
    return says(stem, "beside_training", "evaluation") and not says(stem, "training")
