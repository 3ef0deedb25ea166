"""What programs do by default: whether they fail a test of an option, or of a parameter, that their user may give."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from torchlint.facts.accelerators import GPUS
from torchlint.facts.calls import called_at, function_named
from torchlint.facts.memoizing import followed
from torchlint.facts.notation import name_in
from torchlint.facts.options.demands import Demand, default_of, of_argument
from torchlint.facts.values import Constant, argument_of
from torchlint.project.answers import Answering

if TYPE_CHECKING:
    from torchlint.facts.call_edges import Edge
    from torchlint.facts.file import FileFacts
    from torchlint.facts.notation import Symbol
    from torchlint.facts.randomness.draws import Draw
    from torchlint.facts.randomness.seeding import SeedCall
    from torchlint.facts.scopes import CallSite
    from torchlint.project.index import Project
    from torchlint.project.programs import Program


class Unmet(msgspec.Struct, frozen=True):
    """What keeps something from running by default."""

    option: str
    """As users write it, several with blanks between; empty where no option lets it run: the code itself decides."""
    because: str = ""
    """What decides, in words."""


def unmet(demands: Iterable[Demand], path: str, program: Program, project: Project) -> Unmet | None:
    """The demands of a file's code that a program fails by default; None where it is not seen to fail one."""
    return _defaults_of(program, project).unmet(demands, path)


def fails_by_default(demands: Sequence[Demand], path: str, program: Program, project: Project) -> Unmet | None:
    """What keeps code from running by default, in a program that seeds by default.

    What seeding asks for counts as given: without it nothing repeats in any case.
    """
    lacking = unmet(demands, path, program, project) if demands else None
    if lacking is None or not lacking.option:
        return lacking
    asked = {one for seed in project.randomness_of(program).possible_seeds for one in seed.option.split()}
    missing = [one for one in lacking.option.split() if one not in asked]
    return Unmet(" ".join(missing)) if missing else None


def option_for_seed(program: Program, project: Project, seed: SeedCall) -> str | None:
    """The option that a user must give for a program to seed; empty where it may do so without.

    None where it never does: nobody gives the parameter that seeding depends on, or there is a GPU.
    """
    if seed.without_cuda and not GPUS.isdisjoint(project.devices):
        return None
    lacking = _lacking(program, project, seed)
    callers = project.programs.calls.calls_of(name_in(seed.path, seed.symbol))
    is_never = lacking is not None and not lacking.option and not any(edge.is_reference for _, edge in callers)
    return None if is_never else "" if lacking is None else lacking.option


def why_never(program: Program, project: Project, seed: SeedCall) -> str:
    """What keeps a program from ever seeding, in words; empty where that is not seen."""
    lacking = _lacking(program, project, seed)
    return "" if lacking is None or lacking.option else lacking.because


def _lacking(program: Program, project: Project, seed: SeedCall) -> Unmet | None:
    return keeps_from_running(seed.demands, (seed.path, seed.symbol), program, project)


def never_draws(program: Program, project: Project, draw: Draw) -> bool:
    """Whether all calls leave out a draw: `sample(batch_size=None)`, which nobody gives a size."""
    lacking = unmet(draw.demands, draw.path, program, project) if draw.demands else None
    return lacking is not None and not lacking.option


def keeps_from_running(demands: Sequence[Demand], place: Symbol, program: Program, project: Project) -> Unmet | None:
    """What keeps a statement of a function from running by default: its own demands, or those of all calls of it."""
    return _defaults_of(program, project).on_the_way(tuple(demands), place)


def is_met(demand: Demand, path: str, program: Program, project: Project) -> bool:
    """Whether a program meets a demand for certain."""
    return _defaults_of(program, project).answer(demand, path) is True


def _defaults_of(program: Program, project: Project) -> _Defaults:
    return project.cached(_known_defaults).setdefault(program, _Defaults(program, project))


def _known_defaults(project: Project) -> dict[Program, _Defaults]:
    """Those of the programs that were asked about: many findings ask the same."""
    del project
    return {}


@dataclass(eq=False)
class _Defaults(Answering):
    """What the options and parameters of one program are unless its user says otherwise.

    Answers are kept: where many functions call many others, each would be asked once for every way to it.
    """

    program: Program
    project: Project

    def unmet(self, demands: Iterable[Demand], path: str) -> Unmet | None:
        answers = (self.answer(demand, path) for demand in demands)
        found = [one for one in answers if isinstance(one, Unmet)]
        fixed = next((one for one in found if not one.option), None)
        return fixed or (Unmet(" ".join(dict.fromkeys(one.option for one in found))) if found else None)

    @followed(otherwise=None)
    def on_the_way(self, demands: tuple[Demand, ...], place: Symbol) -> Unmet | None:
        """What keeps a statement with these demands from running: they themselves, or what keeps all calls from it."""
        own = self.unmet(demands, place[0])
        calls = self.project.programs.calls.calls_of(name_in(*place)) if place[1] else []
        ways = [(at, edge) for at, edge in calls if at in self.program.reached and at != place]
        if own is not None or any(edge.is_reference for _, edge in ways):
            return own
        found: list[Unmet] = []
        for at, edge in ways:
            lacking = self.on_the_way(self.project.call_details.of(at[0], edge).demands, at)
            if lacking is None:
                return None
            found.append(lacking)
        return next((one for one in found if one.option), found[0]) if found else None

    @followed(otherwise=False)
    def answer(self, demand: Demand, path: str) -> Unmet | bool:
        """How a demand of a file's code is not met; True where it is for certain, False where nobody knows."""
        if demand.settled:
            return _judged(demand, demand.settled[0])
        if not demand.function:
            return self._of_option(demand, path)
        answers = [self._of_call(demand, path, place, edge) for place, edge in self._calls(demand, path)]
        if not answers:
            is_command = self._is_command(demand, path)
            return is_command and self._of_default(demand, path, is_command=is_command)
        if all(isinstance(one, Unmet) for one in answers):
            return next((one for one in answers if isinstance(one, Unmet) and one.option), answers[0])
        return all(one is True for one in answers)

    def _calls(self, demand: Demand, path: str) -> Iterator[tuple[Symbol, Edge]]:
        callees = dict.fromkeys((demand.function, demand.function.removesuffix(".__init__")))
        for callee in callees:
            for place, edge in self.project.programs.calls.calls_of(name_in(path, callee)):
                if place in self.program.reached and not edge.is_reference:
                    yield place, edge

    def _of_call(self, demand: Demand, path: str, place: Symbol, edge: Edge) -> Unmet | bool:
        """What a call gives a parameter: a literal, its default, or an option or parameter that it hands on."""
        position, given = self._position(demand, path), self.project.call_details.of(place[0], edge).arguments
        key = next((key for key in (demand.name, position) if key is not None and key in given), None)
        if key is None and "*" in given and self._sites(place, edge):
            return False
        if key is None:
            return self._of_default(demand, path, is_command=self._is_command(demand, path) or "*" in given)
        literal = given[key]
        return self._of_argument(demand, position, place, edge) if literal is ... else _judged(demand, literal)

    def _of_argument(self, demand: Demand, position: int | None, place: Symbol, edge: Edge) -> Unmet | bool:
        facts = self.project.flows.read(place[0])
        if facts is None:
            return False
        given = [(argument_of(site.node, demand.name, position), site.scope) for site in self._sites(place, edge)]
        others = ((one, scope) for one, scope in given if one is not None and not isinstance(one, ast.Constant))
        asked = (of_argument(facts, demand, one, scope) for one, scope in others)
        answers = [one is not None and self.answer(one, place[0]) for one in asked]
        return next((one for one in answers if not isinstance(one, Unmet)), answers[0] if answers else False)

    def _sites(self, place: Symbol, edge: Edge) -> list[CallSite]:
        """The calls behind an edge; none where the function is handed to what calls it, as `fire.Fire(main)` does."""
        facts = self.project.flows.read(place[0])
        return [] if facts is None else sites_of(facts, place[1], edge)

    def _position(self, demand: Demand, path: str) -> int | None:
        facts = self.project.flows.read(path)
        target = None if facts is None else function_named(facts, name_in(path, demand.function))
        return None if facts is None or target is None else called_at(facts, target.function, demand.name)

    def _of_default(self, demand: Demand, path: str, *, is_command: bool) -> Unmet | bool:
        """The default of a parameter; of a command's parameter it is that of an option."""
        facts = self.project.flows.read(path)
        target = None if facts is None else function_named(facts, name_in(path, demand.function))
        default = () if facts is None or target is None else default_of(facts, target.function.index, demand.name)
        if len(default) == 1:
            return _judged(demand, default[0], f"--{demand.name.replace('_', '-')}" if is_command else "")
        return path == self.program.path and self._of_option(demand, path)

    def _is_command(self, demand: Demand, path: str) -> bool:
        """Whether the parameter is an option: of the function that a program starts with."""
        return path == self.program.path and demand.function == self.program.entry.symbol

    def _of_option(self, demand: Demand, path: str) -> Unmet | bool:
        """What a program's options say: the file's own, else those of all its files, where these agree."""
        summaries = self.project.summaries
        files = [[path], sorted(self.program.files & summaries.keys())]
        every = ([one for file in some for one in summaries[file].options] for some in files)
        declared = ([one for one in some if one.name == demand.name] for some in every)
        options = next(filter(None, declared), [])
        defaults = {(type(value), value) for one in options for value in one.default}
        if not options and len(demand.default) == 1:
            return _judged(demand, demand.default[0], demand.name)
        if not options:
            defaults = {(type(value), value) for value in self._configured(demand.name)}
        is_known = len(defaults) == 1 and all(one.default for one in options)
        return is_known and _judged(demand, defaults.pop()[1], options[0].shown if options else demand.name)

    def _configured(self, name: str) -> Iterator[Constant]:
        """What the configurations that the program loads say of an entry."""
        for path in sorted(self.program.files & self.project.summaries.keys()):
            for one in self.project.summaries[path].configurations:
                yield from self.project.configuration_files.defaults_of(name, one, path)


def sites_of(facts: FileFacts, symbol: str, edge: Edge) -> list[CallSite]:
    """The calls of a function that an edge of the call graph stands for."""
    own = [site for site in facts.symbols.calls if facts.symbol_of(site) == symbol]
    return [site for site in own if edge.callee in facts.names(site.node.func, site.scope).of_project]


def _judged(demand: Demand, given: object, option: str = "") -> Unmet | bool:
    is_met = demand.is_met_by(given)
    because = f"`{demand.name}` is {given!r}" if demand.name != repr(given) else f"its test is `{given!r}`"
    return Unmet(option, because) if is_met is False else is_met is True
