"""Whether gradients are seen to flow through a function, and modules of the project to which none comes back."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import msgspec

from torchlint.diagnostics import Confidence
from torchlint.facts.differentiation import Evidence, Passage, Passing
from torchlint.facts.entries import is_test
from torchlint.facts.flow.containment import Ungraded
from torchlint.facts.flow.references import is_only_made
from torchlint.facts.flow.stores import constructions_of
from torchlint.facts.flow.tracker import follow
from torchlint.facts.flow.values import Exit, Value
from torchlint.facts.functions import own_scope
from torchlint.facts.notation import Symbol, name_in, symbol_of
from torchlint.facts.words import says
from torchlint.project.call_graph import CallGraph

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts
    from torchlint.facts.summary import FileSummary
    from torchlint.project.index import Project


class Gradients:
    """The differentiated code of a project, worked out as far as it is asked for."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._shown: dict[tuple[str, bool], frozenset[Symbol]] = {}

    def confidence_of(self, passage: Passage, path: str) -> Confidence:
        """High where the file itself shows that a gradient comes back through the function, medium where others do."""
        place = path, passage.symbol
        summary = self._project.known.get(path) or self._project.summaries[path]
        signals = passage.asks is Evidence.SIGNAL
        is_doubtful = bool(passage.is_named_for_data and passage.parameter and not signals)
        asks_others = is_doubtful or passage.asks is Evidence.PREDICTION
        if not asks_others and self._is_shown(place, summary, from_losses_alone=signals):
            return Confidence.HIGH
        if passage.asks is not Evidence.ANY:
            return Confidence.MEDIUM if place in self._handed_predictions else Confidence.LOW
        return Confidence.MEDIUM if place in self._handed and self._is_handed(passage, place) else Confidence.LOW

    def _is_handed(self, passage: Passage, place: Symbol) -> bool:
        """Whether a call is seen to hand a gradient in at the parameter that the operator works on."""
        if passage.parameter is None:
            return True
        starts = [start for start in self._callers(place) if start in self._handed]
        calls = [(start[0], edge) for start in starts for edge in self._calls.edges_from(start)]
        named = ((path, edge, self._calls.callee(edge)) for path, edge in calls)
        edges = [(path, edge) for path, edge, one in named if place in (one, *self._calls.overriding(one))]
        if not edges:
            return not passage.is_named_for_data and place not in self._open_methods
        carried = (self._project.call_details.of(path, edge).carried for path, edge in edges)
        return any(not {*passage.parameter, "*"}.isdisjoint(one) for one in carried)

    def _callers(self, place: Symbol) -> set[Symbol]:
        """What calls a function, or a method that it overrides, tests aside."""
        callers = (one for called in (place, *self._calls.overridden(place)) for one in self._calls.callers_of(called))
        return {one for one in callers if not is_test(one[0])}

    def _is_shown(self, place: Symbol, summary: FileSummary, *, from_losses_alone: bool) -> bool:
        """Whether its own file shows that a place is differentiated: that begins there, or in what leads there."""
        starts = summary.losses if from_losses_alone else summary.losses | summary.forwards
        if place[1] in starts or not starts:
            return bool(starts)
        key = summary.path, from_losses_alone
        if key not in self._shown:
            calls = CallGraph({summary.path: summary})
            self._shown[key] = _followed(calls, [(summary.path, one) for one in starts], for_certain=True)
        return place in self._shown[key]

    @functools.cached_property
    def _handed(self) -> frozenset[Symbol]:
        """What is called from any differentiated code with something that may carry a gradient."""
        return _followed(self._calls, [*self._starts(from_losses_alone=False), *self._open_methods])

    @functools.cached_property
    def _handed_predictions(self) -> frozenset[Symbol]:
        """What is called with something predicted from losses, or from what they hand gradients to."""
        places = _followed(self._calls, self._starts(from_losses_alone=True))
        edges = (edge for place in places for edge in self._calls.edges_from(place))
        return frozenset(self._calls.callee(edge) for edge in edges if edge.passing is Passing.PREDICTED)

    @property
    def _calls(self) -> CallGraph:
        return self._project.programs.calls

    def _starts(self, *, from_losses_alone: bool) -> Iterator[Symbol]:
        for path, summary in self._project.summaries.items():
            if not is_test(path):
                for one in summary.losses if from_losses_alone else summary.losses | summary.forwards:
                    yield path, one

    @functools.cached_property
    def _open_methods(self) -> frozenset[Symbol]:
        """Methods of modules without a `forward` that no code is seen to call: whoever trains one may."""
        found, calls = set[Symbol](), self._calls
        for path, summary in self._project.summaries.items():
            for name in summary.functions if not is_test(path) else ():
                owner, _, method = name.rpartition(".")
                is_open = method != "__init__" and calls.is_module((path, owner)) and not self._callers((path, name))
                if is_open and not calls.has_function(calls.defining((path, f"{owner}.forward"))):
                    found.add((path, name))
        return frozenset(found)


def _followed(calls: CallGraph, starts: Iterable[Symbol], *, for_certain: bool = False) -> frozenset[Symbol]:
    """These places, and what is called from them on with something that may carry a gradient.

    An object that is made with such a thing hands it to all its methods. For certain, a method that is overridden runs
    itself; else what overrides it may run as well, and nothing is entered that is named for other work than training.
    """
    found = {one for one in starts if for_certain or not _is_apart(one)}
    waiting = list(found)
    beside: dict[Symbol, list[Symbol]] = defaultdict(list)
    while waiting:
        place = waiting.pop()
        reached = beside.pop(place, [])
        if not for_certain:
            reached += calls.overriding(place)
        for edge in calls.edges_from(place):
            callee = calls.callee(edge)
            owner = callee[0], callee[1].rpartition(".")[0]
            is_of_object = edge.passing is Passing.RECORDED and bool(owner[1])
            if edge.passing >= Passing.CARRIED or (is_of_object and owner in found):
                reached += [callee, calls.made_by(edge)]
            elif is_of_object:
                beside[owner].append(callee)
        reached = [one for one in reached if not says(one[1].rpartition(".")[2], "targets")]
        new = [one for one in reached if one not in found and (for_certain or not _is_apart(one))]
        found.update(new)
        waiting += new
    return frozenset(found)


def _is_apart(place: Symbol) -> bool:
    """Whether code is named for other work than a step of training; `train_and_evaluate` is one."""
    if says(place[1].rpartition(".")[2], "training"):
        return False
    return says(place[0], "beside_training") or says(place[1], "beside_training", "setting_up")


class _Made(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What becomes of the objects of a class that one file makes."""

    is_seen: bool = False
    is_run: bool = False
    exits: tuple[Exit, ...] = ()
    asked: tuple[tuple[str, bool], ...] = ()
    """The other classes that it hangs on, and whether these were ungraded."""


class UngradedModules:
    """Answers about classes, each worked out once."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._known: dict[str, bool] = {}

    def holds(self, path: str, symbol: str) -> bool:
        """Whether a method belongs to a module whose objects are all seen, and run where gradients are off."""
        owner = symbol.rpartition(".")[0]
        is_open = self._project.is_installed and self._project.is_in_package(path)
        return bool(owner) and not is_open and self._is_ungraded(name_in(path, owner))

    def _is_ungraded(self, owner: str) -> bool:
        if owner not in self._known:
            self._known[owner] = False  # in a circle nobody shows it
            self._known[owner] = self._are_all_seen(owner)
        return self._known[owner]

    def _are_all_seen(self, owner: str) -> bool:
        project = self._project
        path, name = symbol_of(owner)
        if project.imports_by_name or not project.programs.calls.is_module((path, name)):
            return False
        users = sorted(project.flows.users_of(owner) | {path})
        if any(base == owner for one in users for _, base in project.summaries[one].bases):
            return False  # an heir runs the same methods
        found = [self._runs(one, owner) for one in users]
        return None not in found and any(found)

    def _runs(self, path: str, owner: str) -> bool | None:
        """Whether objects that a file makes are seen to run; None where one may get a gradient, or out of sight."""
        made = self._project.interview.answer(path, ("made", owner), _Made, lambda facts: self._made(facts, owner))
        if made is not None and any(self._is_ungraded(other) is not said for other, said in made.asked):
            facts = self._project.interview.read(path)  # another file has changed what is so of a class
            made = None if facts is None else self._made(facts, owner)
        if made is None or not made.is_seen:
            return None
        beyond = self._project.flows.contained(made.exits, lambda other: Ungraded(other, self._is_ungraded))
        return None if beyond is None else made.is_run or any(one.is_run for one in beyond)

    def _made(self, facts: FileFacts, owner: str) -> _Made:
        own = own_scope(facts, owner)
        is_decorated = own is not None and bool(getattr(facts.symbols.scopes[own].node, "decorator_list", ()))
        if is_decorated or not is_only_made(facts, owner):
            return _Made()
        asked: dict[str, bool] = {}

        def is_ungraded(other: str) -> bool:
            asked[other] = self._is_ungraded(other)
            return asked[other]

        analysis = Ungraded(facts, is_ungraded)
        flow = follow(analysis, *(Value(call) for call in constructions_of(facts, {owner})))
        return _Made(flow.is_contained, analysis.is_run, tuple(flow.exits), tuple(asked.items()))
