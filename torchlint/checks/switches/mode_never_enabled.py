"""TL210 mode-never-enabled and TL213 trainer-not-deterministic: a program trains, and leaves the mode off."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from torchlint.checks.framework.operator_verdict import mode_fix
from torchlint.checks.framework.programs import is_demonstration, place_leading_to, place_of_seed, varying_kernels
from torchlint.checks.framework.registration import ProgramFinding, program_check
from torchlint.checks.switches.cudnn_switches import DETERMINISTIC
from torchlint.diagnostics import Fix, Related, Severity
from torchlint.facts.context_operators import CONTEXT
from torchlint.facts.entries import is_example, is_measuring, is_test
from torchlint.facts.grouping import grouped
from torchlint.facts.places import Place
from torchlint.facts.randomness.seeding import SeedCall
from torchlint.facts.summary import OperatorCall
from torchlint.facts.training.steps import Part, Training
from torchlint.facts.words import says
from torchlint.project.index import Project
from torchlint.project.programs import Program
from torchlint.project.randomness import Randomness, is_meant
from torchlint.project.switches import OnDemand, options_for, options_for_mode

_SWITCH = "set `cudnn.deterministic`"
_MOST_SHOWN = 8
"""Places of what varies that a finding lists."""
_MOST_NAMED = 2
"""Programs like the one that a finding is about, in its message."""
_Shape = tuple[bool, frozenset[str], frozenset[str]]


class _Case(msgspec.Struct, frozen=True):
    """A program that trains with the mode off: what seeds torch for it, if anything, and what it is to be told."""

    program: Program
    randomness: Randomness
    seed: SeedCall | None
    untold: Training | None
    """The library's trainer or seeding call that could turn the mode on."""
    varying: tuple[OperatorCall, ...]
    demanded: tuple[OnDemand, ...] = ()
    """The options that would end all of it: they turn the mode on, or cuDNN's switch where that is enough."""

    @property
    def shape(self) -> _Shape:
        """Programs of one shape, such as the scripts of a collection, are told once."""
        operators = frozenset(call.operator for call in self.varying)
        return self.seed is None, operators, frozenset(one.option for one in self.demanded)


@program_check("TL210", "TL213", asks=(CONTEXT,))
def find(program: Program, project: Project) -> Iterator[ProgramFinding]:
    """One of the two rules speaks: of a library's trainer only where a seed says that the program wants to repeat."""
    case = project.cached(_cases).get(program)
    if case is None:
        return
    related = [] if case.seed is None else [Related(case.seed.place.location, f"`{case.seed.name}` seeds")]
    if case.untold is not None:
        yield _of_library(case, case.untold, related, project)
        return
    alike = project.cached(_cases_by_shape)[case.shape]
    if alike[0] is case and case.randomness.training is not None:
        related.append(Related(case.randomness.training.place.location, "trains"))
        yield _of_kernels(case, related, [other.program for other in alike[1:]], project)


def _cases(project: Project) -> dict[Program, _Case]:
    """What either rule speaks of, by program: the project's own, then examples."""
    programs = sorted(project.counted_programs, key=lambda program: (is_example(program.path), program.path))
    found = ((program, _case(program, project)) for program in programs)
    return {program: case for program, case in found if case is not None}


def _cases_by_shape(project: Project) -> Mapping[_Shape, list[_Case]]:
    """Those of TL210, by shape: first a script that is named for training."""
    cases = [case for case in project.cached(_cases).values() if case.untold is None]
    paths = ((case, case.program.path) for case in cases)
    doubts = [(is_example(path), path.endswith(".ipynb"), not says(path, "training"), case) for case, path in paths]
    return grouped((case.shape, case) for *_, case in sorted(doubts, key=lambda one: one[:3]))


def _case(program: Program, project: Project) -> _Case | None:
    if is_test(program.path) or not project.leaves_mode_off(program):
        return None
    randomness = project.randomness_of(program)
    # Of calls with a `seed=`, those of known trainers.
    unasked = {call for entry in project.catalogue.randomness.seeder if entry.unasked for call in entry.calls}
    trainers = {switch.call for switch in project.catalogue.programs.mode if switch.makes_trainer}
    seeds = [
        seed
        for seed in randomness.seeds
        if "torch" in seed.generators
        and seed.name not in unasked
        and (not seed.is_guess or seed.name in trainers)
        and is_meant(seed, program, project.summaries)
    ]
    has_mode = project.has_mode(program.path)
    untold = (randomness.trainer or _untold_seeder(randomness, seeds)) if seeds and has_mode else None
    if untold is not None and "TL213" in project.settings.selected:
        return _Case(program, randomness, seeds[0], untold, tuple(varying_kernels(program, project)))
    is_shown = randomness.training is None or is_measuring(program.path)
    if is_shown or not (seeds or _lacks_seed(randomness, program, project)):
        return None
    varying = tuple(varying_kernels(program, project))
    demanded = options_for_mode(program, project)
    # Else the options that restrict cuDNN, where that ends all that varies.
    switched = (project.catalogue.operator(call.operator).unless_switched for call in varying)
    if not demanded and all(one.get(DETERMINISTIC) for one in switched):
        demanded = options_for(DETERMINISTIC, wanted=True, program=program, project=project)
    seed = seeds[0] if seeds else None
    return _Case(program, randomness, seed, None, varying, tuple(demanded)) if varying else None


def _lacks_seed(randomness: Randomness, program: Program, project: Project) -> bool:
    """Whether TL301 asks for a seed of torch, which alone would not make the program repeat."""
    training = randomness.training
    unseeded = any(draw.generator == "torch" for draw in randomness.unseeded)
    return unseeded and training is not None and not is_demonstration(program, training, project)


def _severity(case: _Case, project: Project) -> Severity | None:
    """A note unless it seeds, which says that its runs are to be equal, and on CUDA they are not."""
    is_wanted = case.seed is not None and bool(case.varying) and not case.demanded
    return None if is_wanted and project.has_gpu(case.program.path) else Severity.INFO


def _of_kernels(case: _Case, related: list[Related], others: list[Program], project: Project) -> ProgramFinding:
    """TL210, which names what the mode would end or refuse."""
    first, names = case.varying[0], {call.name for call in case.varying}
    values = {
        "trains": _trains(case, others),
        "varying": f"`{first.name}` in {first.location.shown_line}",
        "more": f" and {len(names) - 1} more" if len(names) > 1 else "",
        "stay": "stay" if len(names) > 1 else "stays",
    }
    related += [Related(one.location, f"`{one.option}` would steady it") for one in case.demanded]
    places = list(dict.fromkeys(call.location for call in case.varying))  # a model holds several at one place
    related += [Related(place, "varies") for place in places[:_MOST_SHOWN]]
    related += [Related(other.entry.location, "a program like this one") for other in others]
    place, severity = _place(case, project), _severity(case, project)
    if project.has_mode(case.program.path):
        fix = mode_fix(project, [case.program, *others])
        message = "on_demand" if case.demanded else "default"
        values["option"] = f"`{case.demanded[0].option}`" if case.demanded else ""
        return ProgramFinding("TL210", place, values, message, severity, related=tuple(related), fix=fix)
    paths = tuple(sorted({one.entry.location.path for one in (case.program, *others)}))
    switched = Fix("switch", _SWITCH, _SWITCH + " in {count} programs", programs=paths)
    return ProgramFinding("TL210", place, values, "switch", severity, related=tuple(related), fix=switched)


def _trains(case: _Case, others: list[Program]) -> str:
    """What is said of a program, and of those that are like it."""
    paths = dict.fromkeys(one.path for one in others if one.path != case.program.path)
    named = [f"`{path}`" for path in paths][:_MOST_NAMED]
    left = f"{len(others) - len(named)}{' more' if named else ''} like it" if len(others) > len(named) else ""
    *most, last = ["this program", *named, *([left] if left else [])]
    programs, end = (f"{', '.join(most)} and {last}", "") if most else (last, "s")
    is_seeded = case.seed is not None
    return f"{programs} seed{end} and train{end}" if is_seeded else f"{programs}, once seeded, still train{end}"


def _place(case: _Case, project: Project) -> Place:
    """Where the program seeds, or lacks a seed."""
    seed, training = case.seed, case.randomness.training
    if seed is not None:
        return place_leading_to((seed.path, seed.symbol), seed.place, case.program, project)
    assert training is not None
    return place_of_seed(case.program, case.randomness.unseeded, training, project)


def _untold_seeder(randomness: Randomness, seeds: Sequence[SeedCall]) -> Training | None:
    """The library's seeding call that could turn the mode on, in a program with a training loop of its own."""
    if randomness.training is None or randomness.training.part is not Part.BACKWARD:
        return None
    wanted = {seed.place for seed in seeds}
    return next((seeder for seeder in randomness.seeders if seeder.place in wanted), None)


def _of_library(case: _Case, untold: Training, related: list[Related], project: Project) -> ProgramFinding:
    switch = next(one for one in project.catalogue.programs.mode if one.call == untold.name)
    argument = f"{switch.argument}={switch.on[0]}"
    place = place_leading_to((untold.path, untold.symbol), untold.place, case.program, project)
    severity = _severity(case, project)
    if untold.part is Part.SEEDER:
        values = {"seeder": untold.name, "argument": argument, "since": switch.since}
        shown = Related(untold.place.location, f"`{untold.name}` seeds")
        return ProgramFinding("TL213", place, values, "seeder", severity, related=(shown,))
    values = {"trainer": untold.name, "argument": argument}
    shown = Related(untold.place.location, "the trainer is made here")
    return ProgramFinding("TL213", place, values, severity=severity, related=(*related, shown))
