"""Whether a call runs in every run of a program: on each way to it, all tests are decided by what the project says."""

from __future__ import annotations

import ast

import msgspec

from torchlint.diagnostics import Location
from torchlint.facts.control.conditions import decisions
from torchlint.facts.file import MAIN, FileFacts
from torchlint.facts.notation import Symbol, name_in
from torchlint.facts.options.demands import demand_of
from torchlint.facts.scopes import CallSite
from torchlint.facts.tree import is_main_guard
from torchlint.project.index import Project
from torchlint.project.options import is_met, sites_of
from torchlint.project.programs import Program

_HARDWARE = ("is_available", "device_count", "has_cuda", "is_initialized")
"""In tests of the machine: on another one the code may do without."""


class OpenTest(msgspec.Struct, frozen=True):
    """A test that decides whether a call runs, and whose answer the code does not tell."""

    text: str
    location: Location


class Certainty:
    """Answers for one program."""

    def __init__(self, program: Program, project: Project) -> None:
        self._program = program
        self._project = project
        self._known: dict[Symbol, OpenTest | None] = {}

    def open_test(self, path: str, symbol: str, location: Location) -> OpenTest | None:
        """The first test that keeps a call from being certain; None where it runs in every run, or nobody can say."""
        facts = self._project.flows.read(path)
        sites = [] if facts is None else [site for site in facts.symbols.calls if facts.locate(site.node) == location]
        if facts is None or not sites:
            return None
        return self._test_of(facts, sites[0], path) or self._way_to((path, symbol))

    def _way_to(self, place: Symbol) -> OpenTest | None:
        """The test on the way to a function that has the fewest; None where one way has none."""
        if place not in self._known:
            self._known[place] = None  # of a function that calls itself
            self._known[place] = self._searched(place)
        return self._known[place]

    def _searched(self, place: Symbol) -> OpenTest | None:
        path, symbol = place
        is_start = symbol in ("", MAIN) or (path == self._program.path and symbol == self._program.entry.symbol)
        if is_start:
            return None
        found: list[OpenTest | None] = []
        for at, edge in self._project.programs.calls.calls_of(name_in(*place)):
            facts = self._project.flows.read(at[0]) if at in self._program.reached and at != place else None
            if facts is not None:
                tests = (self._test_of(facts, site, at[0]) for site in sites_of(facts, at[1], edge))
                found += [test or self._way_to(at) for test in tests] or [None]
        return None if None in found or not found else found[0]

    def _test_of(self, facts: FileFacts, site: CallSite, path: str) -> OpenTest | None:
        """The first `if` above a call whose answer is not known."""
        for decision, answer in decisions(facts, site.statement):
            text = ast.unparse(decision.test)
            if is_main_guard(decision.test) or any(word in text for word in _HARDWARE):
                continue
            demand = demand_of(facts, decision.test, site.scope)
            asked = demand if demand is None or answer else demand.denied
            if asked is None or not is_met(asked, path, self._program, self._project):
                return OpenTest(text, facts.locate(decision.test))
        return None
