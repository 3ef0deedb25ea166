"""The call graph of a project: what runs when a file is started, as far as names tell."""

from __future__ import annotations

import functools
import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from torchlint.facts.call_edges import Edge
from torchlint.facts.graphs import lineage, reached
from torchlint.facts.grouping import grouped
from torchlint.facts.memoizing import memoized
from torchlint.facts.notation import Symbol, hangs_on_call, name_in, symbol_of
from torchlint.facts.summary import FileSummary
from torchlint.project.answers import Answering
from torchlint.project.objects import Objects

_BY_CONSTRUCTION = ("__init__", "__post_init__", "__call__", "forward", "main", "run")
"""Methods that making an object brings into reach; the rest need a visible call."""
_BY_CONSTRUCTION_FOR_CERTAIN = (
    *("__init__", "__post_init__", "forward", "training_step", "configure_optimizers"),
    *("prepare_data", "setup", "train_dataloader", "val_dataloader"),
)
"""Besides `forward`, what a library's trainer calls of a module and of the data that it is given."""
_MODULES = ("torch.nn.", "lightning.pytorch.LightningModule", "mmengine.model.", "mmcv.runner.BaseModule")
"""Beginnings of the names of classes that are modules."""


def _method(owner: Symbol, name: str) -> Symbol:
    """What a method is called, if the class has it: few of those asked for are there, and none is remembered."""
    return owner[0], f"{owner[1]}.{name}"


class CallGraph(Answering):
    """Calls, imports and base classes of all files.

    There are three questions. What a start may run (`reached`) follows calls and mentions and errs on the side of more.
    What it runs for certain (`run`) follows calls alone. What may run somehow once its files are loaded (`possible`)
    also takes every method for called, since methods are called on objects that names do not tell.
    """

    def __init__(self, summaries: Mapping[str, FileSummary]) -> None:
        self._summaries = summaries
        self._edges: dict[Symbol, list[Edge]] = defaultdict(list)
        imports = ((path, one) for path, summary in summaries.items() for one in summary.imports)
        self._imports = grouped(((path, one.symbol), one.path) for path, one in imports)
        bases = ((path, *one) for path, summary in summaries.items() for one in summary.bases)
        self._bases = grouped(((path, owner), base) for path, owner, base in bases)
        self._reaching: dict[Symbol, tuple[Symbol, ...]] = {}
        self._running: dict[Symbol, tuple[Symbol, ...]] = {}
        """What follows each symbol: hundreds of programs of one project walk the same steps."""
        self._possible: dict[frozenset[str], frozenset[Symbol]] = {}
        super().__init__()
        self._callees: dict[str, Symbol] = {}
        self._makers: dict[str, Symbol] = {}
        """By the names in edges: a few thousand, asked for ten times each."""
        self._objects = Objects(summaries, self.defining)
        for summary in summaries.values():
            for edge in (one for one in summary.edges if one.holder is None):
                self._edges[summary.path, edge.symbol] += self._told(edge)
        for place, edge in [*self._picks(), *self._calls_of_held()]:
            self._edges[place].append(edge)
        self._overriding = self._overrides()

    def edges_from(self, place: Symbol) -> list[Edge]:
        return self._edges.get(place, [])

    def calls_of(self, callee: str) -> list[tuple[Symbol, Edge]]:
        """Who calls or mentions a function, by its full name."""
        callers = self.callers_of(self.defining(symbol_of(callee)))
        return [(place, edge) for place in callers for edge in self._edges[place] if edge.callee == callee]

    def callers_of(self, callee: Symbol) -> Sequence[Symbol]:
        """What calls or mentions a function, under whichever name."""
        return self._callers.get(callee, ())

    @functools.cached_property
    def _callers(self) -> dict[Symbol, list[Symbol]]:
        """The places alone, as a large project has hundreds of thousands of calls."""
        found: dict[Symbol, list[Symbol]] = defaultdict(list)
        for place in sorted(self._edges):
            for callee in dict.fromkeys(map(self.callee, self._edges[place])):
                found[callee].append(place)
        return found

    def reached(self, start: Iterable[Symbol]) -> frozenset[Symbol]:
        """All that may run: at import, by calls, by mentions of functions that others call."""
        return self._closure(start, self._reaching, _BY_CONSTRUCTION, only_calls=False)

    def run(self, start: Iterable[Symbol], without: Callable[[Symbol], bool] | None = None) -> frozenset[Symbol]:
        """What runs in the program's own process: at import, and by calls that names tell; some of it not entered."""
        return self._closure(start, self._running, _BY_CONSTRUCTION_FOR_CERTAIN, only_calls=True, without=without)

    def entered_by(self, edge: Edge) -> frozenset[Symbol]:
        """What one call runs for certain; where it makes an object, what that runs."""
        return self.run([self.callee(edge), self.made_by(edge)])

    def possible(self, reached: frozenset[Symbol]) -> frozenset[Symbol]:
        """All that may run somehow: what is reached, and every method of the files that are loaded with it."""
        loaded = frozenset(self.loaded({path for path, _ in reached}) & self._summaries.keys())
        if loaded not in self._possible:
            methods = ((path, name) for path in loaded for name in self._summaries[path].functions if "." in name)
            self._possible[loaded] = self.reached([*methods, *((path, "") for path in loaded)])
        return reached | self._possible[loaded]

    def callee(self, edge: Edge) -> Symbol:
        """What a call names: the method that a class has, or inherits."""
        found = self._callees.get(edge.callee)
        if found is None:
            found = self._callees[edge.callee] = self.defining(symbol_of(edge.callee))
        return found

    def made_by(self, edge: Edge) -> Symbol:
        """What a call runs where it names a class: its `__init__`."""
        found = self._makers.get(edge.callee)
        if found is None:
            found = self._makers[edge.callee] = self.defining(_method(symbol_of(edge.callee), "__init__"))
        return found

    def overriding(self, place: Symbol) -> list[Symbol]:
        """What runs in place of a method, for objects of classes that override it."""
        return [method for _, method in self._overriding.get(place, ())]

    def overridden(self, place: Symbol) -> Iterator[Symbol]:
        """The methods of base classes that a method runs in place of."""
        owner, _, method = place[1].rpartition(".")
        if not method.startswith("__"):
            yield from self._inherited((place[0], owner), method)

    def is_module(self, owner: Symbol) -> bool:
        """Whether a class is seen to be an `nn.Module`, through base classes of the project."""
        return any(name.startswith(_MODULES) for name, _ in self._ancestors(owner))

    def is_called_by_name(self, method: Symbol) -> bool:
        """Whether code of the project alone runs a method: its class derives from none of a library, modules aside."""
        owner = method[0], method[1].rpartition(".")[0]
        libraries = (name for name, qualname in self._ancestors(owner) if not qualname)
        return bool(owner[1]) and not self.has_function(owner) and all(one.startswith("torch.nn.") for one in libraries)

    def loaded(self, paths: Iterable[str]) -> frozenset[str]:
        """The files that these files import, anywhere in them, and so on."""
        known = self._summaries
        found = reached(paths, lambda path: [one.path for one in known[path].imports] if path in known else ())
        return frozenset(found)

    def _closure(
        self,
        start: Iterable[Symbol],
        following: dict[Symbol, tuple[Symbol, ...]],
        constructed: tuple[str, ...],
        *,
        only_calls: bool,
        without: Callable[[Symbol], bool] | None = None,
    ) -> frozenset[Symbol]:
        found: set[Symbol] = set()
        overridden: dict[Symbol, list[Symbol]] = defaultdict(list)
        waiting = list(start)
        while waiting:
            place = waiting.pop()
            if place not in found and not (without and without(place)):
                found.add(place)
                if place not in following:
                    following[place] = tuple(dict.fromkeys(self._next(place, constructed, only_calls=only_calls)))
                waiting += [one for one in following[place] if one not in found]
                for made, method in self._overriding.get(place, ()):
                    overridden[made].append(method)
                    waiting += [method] if made in found else []
                waiting += overridden.get(place, ())
        return frozenset(found)

    def _overrides(self) -> dict[Symbol, list[tuple[Symbol, Symbol]]]:
        """For each method the classes that override it, each with its own: that runs where such an object is made."""
        found: dict[Symbol, list[tuple[Symbol, Symbol]]] = defaultdict(list)
        methods: dict[Symbol, list[str]] = defaultdict(list)
        for path in {path for path, _ in self._bases}:
            for name in self._summaries[path].functions:
                owner, _, method = name.rpartition(".")
                if not method.startswith("__"):
                    methods[path, owner].append(method)
        for path, owner in self._bases:
            for method in methods[path, owner]:
                for inherited in self._inherited((path, owner), method):
                    found[inherited].append(((path, owner), (path, f"{owner}.{method}")))
        return found

    def _picks(self) -> Iterator[tuple[Symbol, Edge]]:
        """The edges from code that picks from a registry to what decorators have put there."""
        pickers: dict[str, list[str]] = {}
        read = ((path, use) for path, summary in self._summaries.items() for use in summary.tables)
        users = grouped((use.table, (path, use.symbol)) for path, use in read)
        for path, summary in self._summaries.items():
            for one in summary.registrations:
                for user in users.get(one.decorator, ()):
                    yield user, Edge(user[1], name_in(path, one.symbol))
                home, decorator = symbol_of(one.decorator)
                if home in self._summaries and self._summaries[home].tables:
                    if one.decorator not in pickers:
                        pickers[one.decorator] = list(self._pickers(self._summaries[home], decorator))
                    for picker in pickers[one.decorator]:
                        yield (home, picker), Edge(picker, name_in(path, one.symbol))

    def _told(self, edge: Edge) -> list[Edge]:
        """An edge to the methods of what a function gives, once for each class."""
        if not hangs_on_call(edge.callee):
            return [edge]
        return [replace(edge, callee=callee) for callee in self._objects.callees(edge.callee)]

    def _calls_of_held(self) -> Iterator[tuple[Symbol, Edge]]:
        """The calls of methods of what functions are handed: for certain where all callers hand over one class."""
        held = [(path, edge, edge.holder) for path, one in self._summaries.items() for edge in one.edges if edge.holder]
        asked = {((path, one.function), key) for path, _, one in held for key in (one.parameter, one.place)}
        handed: dict[tuple[Symbol, int | str | None], set[str]] = defaultdict(set)
        for edge in (edge for edges in self._edges.values() for edge in edges if edge.objects):
            places = self.callee(edge), self.made_by(edge)
            for place, (key, made) in itertools.product(places, edge.objects):
                if (place, key) in asked:
                    handed[place, key].update(self._objects.classes(made))
        for path, edge, holder in held:
            function = path, holder.function
            owners = handed[function, holder.parameter] | handed[function, holder.place]
            for owner in sorted(owners):
                callee = f"{owner}.{edge.callee}"
                called = replace(edge, callee=callee, holder=None, is_reference=len(owners) > 1)
                if self.has_function(self.callee(called)):
                    yield (path, edge.symbol), called

    def _pickers(self, home: FileSummary, decorator: str) -> Iterator[str]:
        """What picks from the tables that a decorator fills: itself, or by what it makes or calls."""
        made = {edge.symbol: self.callee(edge)[1] for edge in home.edges if _is_part_of(edge.symbol, {decorator})}
        run = {decorator, *made.values()}
        filled = {use.table for use in home.tables if use.fills and _is_part_of(use.symbol, run)}
        return (use.symbol for use in home.tables if not use.fills and use.table in filled)

    @memoized
    def _ancestors(self, owner: Symbol) -> list[Symbol]:
        """The classes that a class inherits from, in the order in which Python looks for a method."""
        found = lineage(owner, lambda one: map(symbol_of, self._bases.get(one, ())))
        return [one for one in found if one != owner]

    def _inherited(self, owner: Symbol, method: str) -> Iterator[Symbol]:
        """The methods of base classes that one of a class overrides."""
        return filter(self.has_function, (_method(base, method) for base in self._ancestors(owner)))

    def _next(self, place: Symbol, constructed: tuple[str, ...], *, only_calls: bool) -> Iterator[Symbol]:
        for imported in self._imports.get(place, ()):
            yield imported, ""
        edges = self._edges.get(place, ())
        for callee in dict.fromkeys(edge.callee for edge in edges if not (only_calls and edge.is_reference)):
            yield self.defining(symbol_of(callee))
            if not self.has_function(symbol_of(callee)):  # a class, or an object of one
                made = (self.defining(_method(symbol_of(callee), method)) for method in constructed)
                yield from (method for method in made if self.has_function(method))

    def has_function(self, place: Symbol) -> bool:
        """Whether the project defines a function or method of this name, in this very class."""
        summary = self._summaries.get(place[0])
        return summary is not None and place[1] in summary.functions

    def defining(self, place: Symbol) -> Symbol:
        """The method that a class inherits; what is not inherited stays."""
        path, qualname = place
        owner, _, method = qualname.rpartition(".")
        if (path, owner) not in self._bases or qualname in self._summaries[path].functions:
            return place
        return next(self._inherited((path, owner), method), place)


def _is_part_of(symbol: str, owners: Iterable[str]) -> bool:
    return any(symbol == owner or symbol.startswith(f"{owner}.") for owner in owners)


def is_reached(symbol: Symbol, reached: frozenset[Symbol], summaries: Mapping[str, FileSummary]) -> bool:
    """Whether a symbol is among those reached; a function that a reached one makes and hands out counts with it."""
    path, qualname = symbol
    if symbol in reached:
        return True
    outer = qualname.rpartition(".")[0]
    is_inner = path in summaries and outer in summaries[path].functions
    return is_inner and is_reached((path, outer), reached, summaries)
