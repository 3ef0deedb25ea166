"""What checks ask of a whole program: whether it counts, where a finding on it stands, what varies in its reach."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from pathlib import PurePosixPath

from torchlint.checks.framework.operator_verdict import admitted_of_library, is_set_steady
from torchlint.diagnostics import Confidence
from torchlint.facts.call_edges import Edge
from torchlint.facts.context_operators import CONTEXT
from torchlint.facts.entries import is_example, is_measuring
from torchlint.facts.file import MAIN
from torchlint.facts.notation import Symbol, is_in, symbol_of
from torchlint.facts.places import Place
from torchlint.facts.randomness.draws import Draw
from torchlint.facts.randomness.saved import Saved
from torchlint.facts.summary import OperatorCall
from torchlint.facts.training.steps import Training
from torchlint.project.beside_training import is_switched_off
from torchlint.project.index import Project
from torchlint.project.programs import Program
from torchlint.project.randomness import is_meant
from torchlint.project.switches import setting_of

_STARTING = re.compile(r"train|main|run|fit|tune|cli|launch|experiment")
"""File names of modules that are programs, although they lie in a package."""
_ENDED_BY_MODE = ("deterministic_alternative", "raises")
_VARYING = ("silent_nondeterministic",)


def first_statement(program: Program, symbols: Collection[Symbol], project: Project) -> Place:
    """The first statement of the one function of its file that runs all these symbols; else where a program starts.

    A script starts with the first call that leads to one of them.
    """
    path, symbol, calls = program.path, program.entry.symbol, project.programs.calls
    functions = project.summaries[path].functions

    def is_begun_by(edge: Edge) -> bool:
        home, name = symbol_of(edge.callee)
        return home == path and name in functions and calls.run([(path, name)]).issuperset(symbols)

    def leads_there(edge: Edge) -> bool:
        return is_begun_by(edge) or (not symbol and not calls.entered_by(edge).isdisjoint(symbols))

    first = None if symbol in functions else _first_call(program, symbol, project, leads_there)
    begun = symbol if symbol in functions else ""
    if first is not None and is_begun_by(first[1]):
        begun = symbol_of(first[1].callee)[1]
    body = project.call_details.body(path, begun) if begun else None
    return body or (program.entry.place if first is None else first[0])


def place_leading_to(target: Symbol, place: Place, program: Program, project: Project) -> Place:
    """`place`, which stands in `target`, if that is in the program's own file; else the own call that leads there."""
    if target[0] == program.path:
        return place

    def leads_there(edge: Edge) -> bool:
        is_of_another = not is_in(edge.callee, program.path)
        return is_of_another and target in project.programs.calls.entered_by(edge)

    for symbol in sorted(symbol for path, symbol in program.reached if path == program.path):
        first = _first_call(program, symbol, project, leads_there)
        if first is not None:
            return first[0]
    return first_statement(program, [target], project)


def place_of_call(path: str, edge: Edge, program: Program, project: Project) -> Place:
    """Where a call of a file stands, if that is the program's own; else where the program begins what leads there."""
    place = project.call_details.of(path, edge).place if path == program.path else None
    return place or first_statement(program, [(path, edge.symbol)], project)


def _first_call(
    program: Program, symbol: str, project: Project, counts: Callable[[Edge], bool]
) -> tuple[Place, Edge] | None:
    """The first call of project code in a symbol of the program's file that counts."""
    edges = project.programs.calls.edges_from((program.path, symbol))
    counted = [edge for edge in edges if not edge.is_reference and counts(edge)]
    places = [(project.call_details.of(program.path, edge).place, edge) for edge in counted]
    placed = [(place, edge) for place, edge in places if place is not None]
    return min(placed, key=lambda one: one[0].location, default=None)


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


def varying_kernels(program: Program, project: Project) -> list[OperatorCall]:
    """The calls in a program's reach whose kernels vary: those that findings name, then those a switch would steady.

    Of the operators that only explain, those count whose kernels a switch of torch chooses: convolutions by cuDNN.
    Rules that are off by default do not count. In each part the program's own file comes first.
    """
    reach = project.reach_of(program)
    paths = sorted(program.files & project.summaries.keys(), key=lambda path: (path != program.path, path))
    summaries = [project.summaries[path] for path in paths]
    calls = [(summary.path, call) for summary in summaries for call in summary.operators]
    calls += [(summary.path, call) for summary in summaries for call in CONTEXT.of(summary)]
    varying = {name for name in {call.operator for _, call in calls} if _varies(name, program, project)}
    return [
        call
        for path, call in calls
        if call.operator in varying
        and reach.holds(path, call.symbol)
        and (call.passage is None or project.gradients.confidence_of(call.passage, path) is not Confidence.LOW)
        and not is_switched_off(project, path, call.symbol, call.demands)
    ]


def _varies(name: str, program: Program, project: Project) -> bool:
    operator = project.catalogue.operator(name)
    if operator.releases:
        operator = operator.within(admitted_of_library(operator, project, program.path)[0])
    if not (operator.unless_switched if operator.is_context else project.catalogue.rules[operator.rule].default):
        return False
    # Where the newest torch has no mode yet, a switch is all that can end it.
    newest = project.target_for(program.path).newest
    rows = [operator.row_for(device, newest) for device in project.devices_for(program.path)]
    has_switch = bool(operator.unless_switched) and not project.has_mode(program.path)
    ends = _VARYING if has_switch else _ENDED_BY_MODE
    may_vary = any(row is not None and row.confidence != "low" and row.under_mode in ends for row in rows)
    if not may_vary or is_set_steady(operator, project):
        return False
    switches = ((setting_of(switch, program, project), on) for switch, on in operator.unless_switched.items())
    # A switch may be turned on; what turns it off must be seen to.
    return not any(setting is on or (on and setting is ...) for setting, on in switches)
