"""What of a project no training runs: scripts beside it, programs that predict, trials of a module, unused code."""

from __future__ import annotations

from torchlint.facts.file import MAIN
from torchlint.facts.options.demands import Demand
from torchlint.facts.training.training_mode import LOADERS
from torchlint.project.index import Project
from torchlint.project.options import keeps_from_running
from torchlint.project.programs import Program
from torchlint.project.unused_definitions import UnusedDefinitions, only_tries


def gets_into_no_training(project: Project, path: str, symbol: str) -> bool:
    """Whether code stands where nothing of it gets into what the project trains."""
    return _is_left_out(project, path) or is_only_tried(project, path, symbol)


def is_only_tried(project: Project, path: str, symbol: str) -> bool:
    """Whether code of a project that trains runs in a trial of its file alone, or is part of what nothing uses."""
    if project.has_training and _is_of_trial(project, path, symbol):
        return True
    return symbol not in ("", MAIN) and _is_unused(project, path, symbol.partition(".")[0])


def only_predicts(project: Project, path: str) -> bool:
    """Whether the programs that run a file are known, load weights, and do not train: a gradient comes back in none."""
    if not project.trains_anywhere:
        return not project.is_installed and _only_load(project, path)
    is_open = project.is_in_package(path) or project.imports_by_name or project.may_train((path, ""))
    return not is_open and _only_load(project, path)


def is_switched_off(project: Project, path: str, symbol: str, demands: tuple[Demand, ...]) -> bool:
    """Whether no program that trains gives parameters what code needs to run: others may predict, or try it out.

    The code itself may ask, or all calls of the function that it is in.
    """
    programs = _programs_running(project, path)
    training = [one for one in programs if project.randomness_of(one).trained is not None]
    lacking = [keeps_from_running(demands, (path, symbol), program, project) for program in training or programs]
    return bool(lacking) and all(one is not None and not one.option for one in lacking)


def _only_load(project: Project, path: str) -> bool:
    programs = _programs_running(project, path)
    return bool(programs) and all(_loads_weights(project, one) for one in programs)


def _programs_running(project: Project, path: str) -> list[Program]:
    """The programs that decide for a file, but for its own where that only tries it out."""
    return [one for one in project.programs.reaching(path) if one.path != path or not only_tries(project, path)]


def _loads_weights(project: Project, program: Program) -> bool:
    return any(project.texts.name_attribute(loader, program.files) for loader in LOADERS)


def _is_of_trial(project: Project, path: str, symbol: str) -> bool:
    """Whether code stands under a main guard that only tries the file out, or in a function that this alone calls."""
    callers = {place for place, _ in project.programs.calls.calls_of(f"{path}::{symbol}")}
    is_of_guard = symbol == MAIN or ("." not in symbol and callers == {(path, MAIN)})
    return is_of_guard and only_tries(project, path)


def _is_left_out(project: Project, path: str) -> bool:
    """Whether a script is beside what is trained: it starts something else, none imports it, and others train."""
    is_alone = not project.is_in_package(path) and not project.importers.get(path)
    starts = is_alone and bool(project.programs_starting_in(path))
    return starts and project.has_training and not project.imports_by_name and not project.may_train((path, ""))


def _is_unused(project: Project, path: str, name: str) -> bool:
    """Who uses what a package holds that is installed, or what a notebook does, may be anywhere."""
    is_open = path.endswith(".ipynb") or (project.is_installed and project.is_in_package(path))
    return not is_open and project.cached(UnusedDefinitions).hold(path, name)
