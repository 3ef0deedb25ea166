"""A file's facts, reduced to what its project asks."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from torchlint.facts.accelerators import devices_named
from torchlint.facts.call_edges import Edge, call_edges, group_edges, property_edges
from torchlint.facts.classes import base_classes
from torchlint.facts.data_loading.loaders import worker_loaders
from torchlint.facts.data_loading.workers import LOADER, Workers, functions_for_workers, workers_of
from torchlint.facts.differentiation import forward_symbols, loss_symbols
from torchlint.facts.entries import entries_of, is_test
from torchlint.facts.environment import environment_writes
from torchlint.facts.functions import positional_parameters
from torchlint.facts.modes import mode_calls
from torchlint.facts.objects import results_of
from torchlint.facts.options.configurations import configurations
from torchlint.facts.options.declared import options_in
from torchlint.facts.order.salted import salted
from torchlint.facts.places import Place, place_of
from torchlint.facts.processes import ProcessStart, process_start
from torchlint.facts.randomness.draws import Draw, draw
from torchlint.facts.randomness.environments import EnvironmentCall, concerns_environments, environment_call
from torchlint.facts.randomness.saved import drawn_results, handed_to_writers, saved_results, writers_of
from torchlint.facts.randomness.seeding import SeedCall, seed_call
from torchlint.facts.registries import registrations, table_uses
from torchlint.facts.scopes import ImportTarget, ScopeKind
from torchlint.facts.summary import FileSummary, Import, OperatorCall, Parameters
from torchlint.facts.switch_writes import switch_writes
from torchlint.facts.training.replicas import SharedDraw, hangs_on_the_batch, shared_draw
from torchlint.facts.training.steps import Training, training, trainings_by_hand
from torchlint.facts.training.training_mode import (
    ModuleModes,
    classes_with_a_mode_of_their_own,
    sets_mode,
    varying_part,
)
from torchlint.facts.training.weights import loads_weights
from torchlint.facts.tree import last_word
from torchlint.facts.words import says

if TYPE_CHECKING:
    from torchlint.catalogue.programs import SaverEntry
    from torchlint.facts.file import FileFacts
    from torchlint.facts.full_names import Names
    from torchlint.facts.scopes import CallSite
    from torchlint.facts.watch import Watch


def summarise(facts: FileFacts, watch: Watch, operators: Iterable[OperatorCall], *, is_notebook: bool) -> FileSummary:
    """Reduce a file's facts to what its project asks; `operators` come from the check that knows them."""
    modes = tuple(mode_calls(facts, watch.switches))
    asked = {call.symbol for call in modes if call.parameter}
    entries = tuple(entries_of(facts, watch, is_notebook=is_notebook))
    calls = _Calls(facts, watch, is_placed=bool(entries))
    return FileSummary(
        path=facts.path,
        start=place_of(facts, facts.tree),
        libraries=frozenset(_libraries(facts)),
        imports=tuple(_imports(facts)),
        entries=entries,
        edges=(*calls.edges, *group_edges(facts), *property_edges(facts)),
        modes=modes,
        environment=tuple(environment_writes(facts, watch.variables)),
        parameters=tuple(_parameters(facts, asked)),
        registrations=tuple(facts.cached(registrations)),
        tables=tuple(table_uses(facts)),
        functions=frozenset(scope.qualname for scope in facts.symbols.scopes if scope.kind is ScopeKind.FUNCTION),
        bases=tuple(base_classes(facts)),
        bodies=tuple(_bodies(facts)) if entries else (),
        results=() if is_test(facts.path) else tuple(results_of(facts)),
        seeds=tuple(calls.seeds),
        restores_generators=calls.restores_generators,
        draws=tuple(calls.draws.values()),
        saved=(
            *saved_results(facts, calls.savers, calls.drawn),
            *handed_to_writers(facts, calls.writing, calls.drawn),
        ),
        writers=frozenset(writers_of(facts, calls.savers)),
        drawn=tuple(drawn_results(facts, calls.drawn, calls.edges)),
        trainings=(*calls.trainings.values(), *trainings_by_hand(facts)),
        workers=tuple(calls.workers),
        worker_inits=tuple(calls.worker_inits),
        switches=tuple(switch_writes(facts, watch.switch_names)),
        operators=tuple(operators),
        context=tuple(calls.context),
        environments=tuple(calls.environments.values()),
        modes_of_modules=ModuleModes(
            tuple(dict.fromkeys(calls.parts)),
            frozenset(calls.setters),
            frozenset(classes_with_a_mode_of_their_own(facts)),
        ),
        overwrites_switch=_overwrites(facts, watch),
        loaders=tuple(worker_loaders(facts)),
        forwards=forward_symbols(facts),
        losses=loss_symbols(facts),
        options=facts.cached(options_in),
        configurations=tuple(facts.cached(configurations).values()),
        starts=tuple(calls.starts),
        salted=tuple(salted(facts)),
        shared_draws=tuple(calls.shared_draws.values()),
        unsettled=frozenset(calls.unsettled),
        loads_weights=frozenset(calls.loads_weights),
        devices=devices_named(facts, watch.devices),
    )


def _overwrites(facts: FileFacts, watch: Watch) -> bool:
    words = {name.rpartition(".")[2] for name in watch.switches}
    return any(
        isinstance(assignment.target, ast.Attribute)
        and assignment.target.attr in words
        and facts.names(assignment.target, assignment.scope).only in watch.switches
        for assignment in facts.symbols.assignments
    )


class _Calls:
    """What a file's calls tell, in one pass: every name is resolved once."""

    def __init__(self, facts: FileFacts, watch: Watch, *, is_placed: bool) -> None:
        self.edges: list[Edge] = []
        self.seeds: list[SeedCall] = []
        self.restores_generators = False
        self.draws: dict[tuple[str, str, str], Draw] = {}
        self.drawn: dict[CallSite, Draw] = {}
        self.savers: list[tuple[CallSite, Names, SaverEntry]] = []
        self.writing: list[CallSite] = []
        self.trainings: dict[tuple[str, str], Training] = {}
        self.workers: list[Workers] = []
        self.worker_inits: list[str] = []
        self.context: list[OperatorCall] = []
        self.environments: dict[tuple[str, str], EnvironmentCall] = {}
        self.parts: list[tuple[str, str]] = []
        self.starts: list[ProcessStart] = []
        self.shared_draws: dict[str, SharedDraw] = {}
        self.unsettled: set[str] = set()
        self.loads_weights: set[str] = set()
        self.setters: set[str] = set()
        self._facts, self._watch, self._is_placed = facts, watch, is_placed
        self._has_environments = concerns_environments(facts)
        for site in facts.symbols.calls:
            names = facts.names(site.node.func, site.scope)
            self._add_structure(site, names)
            self._add_randomness(site, names)
            self._add_modules(site, names)

    def _add_structure(self, site: CallSite, names: Names) -> None:
        """Who calls whom, who hands functions to workers, and what is made of lists."""
        self.edges += call_edges(self._facts, site, names, self._watch, is_placed=self._is_placed)
        self.worker_inits += functions_for_workers(self._facts, site)
        if names.only == LOADER:
            self.workers.append(workers_of(self._facts, site))
        if names.names & self._watch.process_calls:
            started = process_start(self._facts, site, names, self._watch.processes)
            self.starts += [] if started is None else [started]
        # `models.__dict__[name](...)`: whatever is picked from it
        table = site.node.func.value if isinstance(site.node.func, ast.Subscript) else None
        called = names.only if table is None else self._facts.names(table, site.scope).only
        for operator in self._watch.context_of(called) if called is not None else ():
            name = ast.unparse(site.node.func)
            self.context.append(
                OperatorCall(operator, name, self._facts.symbol_of(site), self._facts.locate(site.node))
            )

    def _add_randomness(self, site: CallSite, names: Names) -> None:
        """What seeds, draws, saves and acts in environments."""
        facts, watch = self._facts, self._watch
        seeded = seed_call(facts, site, names, watch.seeders)
        if seeded is not None:
            self.seeds.append(seeded)
        self.restores_generators |= bool(names.names & watch.restorers)
        drawn = draw(facts, site, names, watch.draws)
        if drawn is not None:
            self.draws.setdefault((drawn.symbol, drawn.generator, drawn.makes), drawn)
            self.drawn[site] = drawn
        shared = shared_draw(facts, site, drawn, watch.cpu_draws)
        if shared is not None:
            self.shared_draws.setdefault(shared.symbol, shared)
        if hangs_on_the_batch(site, names, drawn, watch.batch_layers):
            self.unsettled.add(facts.symbol_of(site))
        saver = watch.savers.find(site.node, names)
        if saver is not None:
            self.savers.append((site, names, saver))
        elif says(last_word(site.node.func), "writing"):
            self.writing.append(site)
        acted = environment_call(facts, site, names, watch.seeders) if self._has_environments else None
        if acted is not None:
            self.environments.setdefault((acted.symbol, acted.part.value), acted)

    def _add_modules(self, site: CallSite, names: Names) -> None:
        """What trains, and what models hold."""
        facts = self._facts
        trained = training(facts, site, names, self._watch.trainers)
        if trained is not None:
            self.trainings.setdefault((trained.symbol, trained.part.value), trained)
        if loads_weights(facts, site):
            self.loads_weights.add(facts.symbol_of(site))
        if sets_mode(site.node, names):
            self.setters.add(facts.symbol_of(site))
        part = varying_part(facts, site, names) if facts.imports_torch else None
        if part is not None:
            self.parts.append(part)


def _libraries(facts: FileFacts) -> Iterator[str]:
    for target, _ in facts.symbols.imports:
        if not target.level:
            yield target.module.partition(".")[0]


def _imports(facts: FileFacts) -> Iterator[Import]:
    modules = facts.resolver.modules
    for target, scope in facts.symbols.imports:
        function = facts.function_of(scope)
        symbol = facts.symbols.scopes[function].qualname if function is not None else ""
        for candidate in _modules_loaded(target):
            found = modules.find(candidate, facts.path)
            if found is not None:
                submodule = modules.submodule(found.path, target.name) if target.name else None
                is_named = candidate.name is not None and candidate.name != "*"
                yield Import(symbol, found.path, str(candidate.name) if is_named else "")
                if submodule is not None:
                    yield Import(symbol, submodule.path, "")


def _modules_loaded(target: ImportTarget) -> Iterator[ImportTarget]:
    """`import a.b.c` runs a, a.b and a.b.c."""
    if target.level:
        yield target
        return
    parts = target.module.split(".")
    for end in range(1, len(parts) + 1):
        yield ImportTarget(".".join(parts[:end]), target.name if end == len(parts) else None, 0)


def _bodies(facts: FileFacts) -> Iterator[tuple[str, Place]]:
    for scope in facts.symbols.scopes:
        if scope.kind is ScopeKind.FUNCTION:
            body: list[ast.stmt] = scope.node.body  # type: ignore[attr-defined]
            has_words = len(body) > 1 and ast.get_docstring(scope.node, clean=False) is not None  # type: ignore[arg-type]
            yield scope.qualname, place_of(facts, body[1 if has_words else 0])


def _parameters(facts: FileFacts, symbols: set[str]) -> Iterator[tuple[str, Parameters]]:
    for scope in facts.symbols.scopes:
        if scope.kind is not ScopeKind.FUNCTION or scope.qualname not in symbols:
            continue
        arguments: ast.arguments = scope.node.args  # type: ignore[attr-defined]
        positional = positional_parameters(scope)
        pairs = list(zip(reversed(positional), reversed(arguments.defaults), strict=False))
        pairs += [
            (argument.arg, default)
            for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
            if default is not None
        ]
        defaults = tuple(
            (name, values.constants[0])
            for name, default in pairs
            if (values := facts.value(default, 0)).is_known and len(values.constants) == 1
        )
        names = tuple(name for name in positional if name not in ("self", "cls"))
        yield scope.qualname, Parameters(names, defaults)
