"""What programs do by default: whether they fail a test of an option, or of a parameter, that their user may give."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from torchlint.facts.options.demands import Demand, of_argument
from torchlint.facts.values import Constant, argument_of

if TYPE_CHECKING:
    from torchlint.facts.call_edges import Edge
    from torchlint.project.call_graph import Symbol
    from torchlint.project.index import Project
    from torchlint.project.programs import Program

_DEPTH = 4
"""Functions that hand a parameter on."""


@dataclass(frozen=True, slots=True)
class Unmet:
    """What keeps something from running by default."""

    option: str
    """As users write it, several with blanks between; empty where no option lets it run: the code itself decides."""


def unmet(demands: Iterable[Demand], path: str, program: Program, project: Project) -> Unmet | None:
    """The demands of a file's code that a program fails by default; None where it is not seen to fail one."""
    answers = (_answer(demand, path, program, project, _DEPTH) for demand in demands)
    found = [one.option for one in answers if isinstance(one, Unmet)]
    return Unmet(" ".join(dict.fromkeys(found)) if all(found) else "") if found else None


def is_met(demand: Demand, path: str, program: Program, project: Project) -> bool:
    """Whether a demand is met for certain."""
    return _answer(demand, path, program, project, _DEPTH) is True


def _answer(demand: Demand, path: str, program: Program, project: Project, depth: int) -> Unmet | bool:
    """True where it is met for certain, False where nobody knows."""
    if not demand.function:
        return _of_option(demand, path, program, project)
    calls = _calls(demand, path, program, project)
    answers = [_of_call(demand, path, place, edge, program, project, depth) for place, edge in calls]
    if not answers:
        return _of_default(demand, path, program, project)
    if all(isinstance(one, Unmet) for one in answers):
        return next((one for one in answers if isinstance(one, Unmet) and one.option), answers[0])
    return all(one is True for one in answers)


def _calls(demand: Demand, path: str, program: Program, project: Project) -> Iterator[tuple[Symbol, Edge]]:
    callees = {f"{path}::{demand.function}", f"{path}::{demand.function.removesuffix('.__init__')}"}
    for place in sorted(program.reached):
        for edge in project.programs.calls.edges_from(place):
            if edge.callee in callees and not edge.is_reference:
                yield place, edge


def _of_call(
    demand: Demand, path: str, place: Symbol, edge: Edge, program: Program, project: Project, depth: int
) -> Unmet | bool:
    """What a call gives a parameter: a literal, its default, or an option or parameter that it hands on."""
    position = _position(demand, path, project)
    given = dict(edge.arguments)
    literal = next((given[key] for key in (demand.name, position) if key is not None and key in given), None)
    is_given = any(key in given for key in (demand.name, position))
    if not is_given:
        return False if "*" in given else _of_default(demand, path, program, project)
    if literal is not ...:
        return _judged(demand.is_met_by(literal), "")
    facts = project.load_facts(place[0]) if depth else None
    for site in () if facts is None else facts.reading.calls:
        if facts is not None and facts.symbol_of(site) == place[1]:
            is_call = edge.callee in facts.names(site.node.func, site.scope).of_project
            argument = argument_of(site.node, demand.name, position) if is_call else None
            asked = None if argument is None else of_argument(facts, demand, argument, site.scope)
            if asked is not None:
                return _answer(asked, place[0], program, project, depth - 1)
    return False


def _position(demand: Demand, path: str, project: Project) -> int | None:
    parameters = dict(project.summaries[path].parameters).get(demand.function)
    names = () if parameters is None else parameters.names
    return names.index(demand.name) if demand.name in names else None


def _of_default(demand: Demand, path: str, program: Program, project: Project) -> Unmet | bool:
    """The default of a parameter; of a command's parameter it is that of an option."""
    parameters = dict(project.summaries[path].parameters).get(demand.function)
    defaults = {} if parameters is None else dict(parameters.defaults)
    if demand.name not in defaults:
        return path == program.path and _of_option(replace(demand, function=""), path, program, project)
    is_command = path == program.path and demand.function == program.entry.symbol
    return _judged(demand.is_met_by(defaults[demand.name]), _spelled(demand.name) if is_command else "")


def _of_option(demand: Demand, path: str, program: Program, project: Project) -> Unmet | bool:
    """What a program's options say: the file's own, else those of all its files, where these agree."""
    files = sorted(program.files & project.summaries.keys())
    declared = [one for one in project.summaries[path].options if one.name == demand.name] or [
        one for file in files for one in project.summaries[file].options if one.name == demand.name
    ]
    defaults: set[tuple[type, Constant]] = {(type(value), value) for one in declared for value in one.default}
    if not declared and len(demand.default) == 1:
        return _judged(demand.is_met_by(demand.default[0]), demand.name)
    if len(defaults) != 1 or not all(one.default for one in declared):
        return False
    return _judged(demand.is_met_by(defaults.pop()[1]), declared[0].shown)


def _judged(is_met: bool | None, option: str) -> Unmet | bool:  # noqa: FBT001 - an answer
    return Unmet(option) if is_met is False else is_met is True


def _spelled(parameter: str) -> str:
    return f"--{parameter.replace('_', '-')}"
