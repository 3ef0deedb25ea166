"""TL301 and TL303: a program draws from a generator that nothing seeds, or that it seeds too late."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from torchlint.checks.framework.operator_verdict import enumerated
from torchlint.checks.framework.programs import is_demonstration, place_leading_to, place_of_call, place_of_seed
from torchlint.checks.framework.registration import ProgramFinding, program_check
from torchlint.diagnostics import Related, Severity
from torchlint.facts.notation import symbol_of
from torchlint.facts.randomness.draws import Draw
from torchlint.facts.randomness.seeding import SeedCall
from torchlint.facts.words import says
from torchlint.project.fresh_processes import unseeded_processes, worker_draws
from torchlint.project.index import Project
from torchlint.project.options import why_never
from torchlint.project.programs import Program
from torchlint.project.randomness import SAVED, Randomness, is_meant

_CODE = "TL301"
_NAMES = {"torch": "torch", "numpy": "numpy.random", "random": "random"}
_SEEDING = {"torch": "torch.manual_seed(seed)", "numpy": "numpy.random.seed(seed)", "random": "random.seed(seed)"}
_MADE = {
    "model": "the model's weights were drawn",
    "split": "the data was split",
    "order": "the data was shuffled",
    "rows": "rows of the embedding were drawn",
}


@program_check(_CODE, asks=(SAVED,))
def find(program: Program, project: Project) -> Iterator[ProgramFinding]:
    """One finding for a program, naming every library that it draws from and does not seed."""
    randomness = project.randomness_of(program)
    if randomness.training is None:
        yield from _saved(program, project, randomness)
    elif not is_demonstration(program, randomness.training, project):
        unseeded = randomness.unseeded
        if unseeded:
            values = _values(unseeded, randomness)
            lacking = {draw.generator for draw in randomness.unseeded}
            asked = [
                (one, why_never(program, project, one)) for one in randomness.idle_seeds if one.generators & lacking
            ]
            idle = [(seed, why) for seed, why in asked if why]
            seeded = randomness.reached_generators
            lacks = "partial" if seeded & _NAMES.keys() else "cuda_only" if "torch.cuda" in seeded else "default"
            message = "idle" if idle and not seeded else lacks
            related = (*_related(randomness), *(Related(seed.place.location, "does not run") for seed, _ in idle[:1]))
            values |= {"idle": _called(idle[0][0]), "because": idle[0][1]} if idle else {}
            place = place_of_seed(program, unseeded, randomness.training, project)
            yield ProgramFinding(_CODE, place, values, message, related=related)
        else:
            spawned = [*_spawned(program, project, randomness), *_in_workers(program, project)]
            yield from spawned or _on_demand(program, project, randomness)


def _on_demand(program: Program, project: Project, randomness: Randomness) -> Iterator[ProgramFinding]:
    """What is said of a program that seeds only where its user gives an option."""
    draws = randomness.seeded_on_demand
    if not draws:
        return
    seed = next(one for one in randomness.possible_seeds if one.option and draws[0].generator in one.generators)
    values = {**_values(draws, randomness), "option": f"`{seed.option}`"}
    place = place_leading_to((seed.path, seed.symbol), seed.place, program, project)
    yield ProgramFinding(_CODE, place, values, "on_demand", severity=Severity.INFO, related=_drawing(draws))


def _spawned(program: Program, project: Project, parent: Randomness) -> Iterator[ProgramFinding]:
    """What is said of processes that train with generators which the program seeds in its first process alone."""
    process = next(unseeded_processes(program, project), None)
    if process is not None:
        values = _values(process.unseeded, process.randomness)
        values |= {"starter": process.edge.starter, "started": symbol_of(process.edge.callee)[1]}
        place = place_of_call(process.path, process.edge, program, project)
        yield ProgramFinding(_CODE, place, values, "spawned", related=_related(parent))


def _in_workers(program: Program, project: Project) -> Iterator[ProgramFinding]:
    """What is said of draws from `random` in worker processes, which seed it anew."""
    found = next(worker_draws(program, project), None)
    if found is not None:
        started = symbol_of(found.edge.callee)[1]
        values = {"drawn": _called(found.draw), "starter": found.edge.worker, "started": started}
        place = place_of_call(found.path, found.edge, program, project)
        related = (Related(found.draw.place.location, "draws from random, in a worker"),)
        message, severity = ("workers_cached", Severity.INFO) if found.edge.is_cached else ("workers", None)
        yield ProgramFinding(_CODE, place, values, message, severity=severity, related=related)


def _saved(program: Program, project: Project, randomness: Randomness) -> Iterator[ProgramFinding]:
    """What is said of a program that trains nothing, and writes what it draws."""
    unseeded = randomness.unseeded_among(project.saved_by(program))
    if program.files.isdisjoint(project.torch_files):  # it may prepare the data of others that do
        unseeded = tuple(one for one in unseeded if project.has_torch and one.is_prepared)
    if not unseeded or is_demonstration(program, unseeded[0].saved, project):
        return
    first, draws = unseeded[0], [one.draw for one in unseeded]
    values = {**_values(draws, randomness), "saved": f"`{first.saved.name}`"}
    saved = Related(first.saved.place.location, "saves it")
    message = "saved_partial" if randomness.reached_generators & _NAMES.keys() else "saved"
    place = place_of_seed(program, draws, first.saved, project)
    related = (*_drawing(draws), saved, *_seeding(randomness))
    yield ProgramFinding(_CODE, place, values, message, related=related)


def _values(unseeded: Sequence[Draw], randomness: Randomness) -> dict[str, str]:
    return {
        "drawn": _called(unseeded[0]),
        "missing": enumerated([_NAMES[draw.generator] for draw in unseeded]),
        "seeded": enumerated([_NAMES[name] for name in _NAMES if name in randomness.reached_generators]),
        "fixes": enumerated([f"`{_SEEDING[draw.generator]}`" for draw in unseeded]),
    }


def _called(one: Draw | SeedCall) -> str:
    return f"`{one.name}` in {one.place.location.shown_line}"


def _related(randomness: Randomness) -> tuple[Related, ...]:
    trains = [] if randomness.training is None else [Related(randomness.training.place.location, "trains")]
    return (*_drawing(randomness.unseeded), *_seeding(randomness), *trains)


def _drawing(draws: Sequence[Draw]) -> tuple[Related, ...]:
    return tuple(Related(draw.place.location, f"draws from {_NAMES[draw.generator]}") for draw in draws)


def _seeding(randomness: Randomness) -> Iterator[Related]:
    for seed in randomness.seeds[:1]:
        yield Related(seed.place.location, f"`{seed.name}` seeds {enumerated(sorted(seed.generators))}")


@program_check("TL303")
def late_seed(program: Program, project: Project) -> Iterator[ProgramFinding]:
    """The first seeding, where something that stays was drawn before it."""
    randomness = project.randomness_of(program)
    late = project.seed_order.late_seed(program, randomness.possible_seeds)
    # Weights that nothing trains, or of a program that shows what a model does, are mostly loaded further on. So are
    # those of one that is named for results, even where it fits what comes out of a model.
    stem = PurePosixPath(program.path).stem
    is_for_results = says(stem, "beside_training", "evaluation") and not says(stem, "training")
    trains = randomness.trained is not None and not is_for_results
    is_made_for_good = late is not None and (late.draw.makes == "split" or trains)
    if late is None or not is_made_for_good or not project.uses_torch(program.path):
        return
    if not is_meant(late.seed, program, project.summaries):
        return
    values = {"made": _MADE[late.draw.makes], "drawn": _called(late.draw)}
    values["seeder"] = late.seed.name.rpartition(".")[2]
    related = [Related(late.draw.place.location, f"`{late.draw.name}` draws before the seed")]
    if late.seed.place != late.place:
        related.append(Related(late.seed.place.location, f"`{late.seed.name}` seeds"))
    unasked = {call for entry in project.catalogue.randomness.seeder if entry.unasked for call in entry.calls}
    message = "trainer" if late.seed.name in unasked else "default"
    # New rows start close to the mean of the others, and mostly stand for padding.
    severity = Severity.INFO if late.draw.makes == "rows" else None
    yield ProgramFinding("TL303", late.place, values, message, severity=severity, related=tuple(related))
